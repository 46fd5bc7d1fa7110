"""A paper's claims on the kernel's TCP: its scenarios with hosts of Linux, run in real time, and judged beside its runs."""
