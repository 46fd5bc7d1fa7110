"""Experiments: what is run, how often, what is measured, and where it is stored."""
