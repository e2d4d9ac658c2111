"""Reads, judges, repairs: the stages put together for one run."""
