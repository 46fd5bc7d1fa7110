"""Scripts of packets and system calls, run against a TCP endpoint."""
