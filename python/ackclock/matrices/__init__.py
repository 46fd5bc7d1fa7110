"""Matrices: every combination of parts on many paths."""
