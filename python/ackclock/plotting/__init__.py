"""Figures of anything stored: runs, sweeps, datasets, comparisons, matrices, tunings, papers and other reports.

`ackclock.plot` draws one figure, and the command `ackclock plot` all; `sources.figures` finds them.
"""
