"""Sweeps: the points of a scenario in worlds, with seeds, run by an engine and stored as a dataset."""
