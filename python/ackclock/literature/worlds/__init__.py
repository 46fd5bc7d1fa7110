"""A paper's claims in worlds beside the simulation: its scenarios with hosts of Linux, run there and judged."""
