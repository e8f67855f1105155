"""Journals as DataFrames. pandas is imported when the first table is asked for."""

from nika_nb.tables.columns import TABLES, Column
from nika_nb.tables.read import FolderTables, TraceTables, read_trace, read_traces

__all__ = ["TABLES", "Column", "FolderTables", "TraceTables", "read_trace", "read_traces"]
