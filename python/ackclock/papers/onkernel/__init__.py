"""A paper's claims on the TCP of the kernel: its scenarios with hosts of Linux, run in real time and judged."""
