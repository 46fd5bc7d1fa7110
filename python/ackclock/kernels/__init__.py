"""Scenarios on the real TCP of Linux, and their comparison with the simulation."""
