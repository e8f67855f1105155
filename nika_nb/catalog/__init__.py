"""Closed vocabularies as data, pinned to one commit of the public specification."""

SPEC_PIN = "332f5232de5fac35d974ae991534667885661716"
