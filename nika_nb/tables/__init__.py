"""Journals as DataFrames. pandas is imported when the first table is asked for."""

from nika_nb.tables.read import TraceTables, read_trace

__all__ = ["TraceTables", "read_trace"]
