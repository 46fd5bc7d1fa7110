"""Comparisons: algorithms and hosts against each other, on one path or many."""
