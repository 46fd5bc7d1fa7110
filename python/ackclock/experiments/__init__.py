"""Experiments: planned runs, their repetitions, their measurements, and the stores of results."""
