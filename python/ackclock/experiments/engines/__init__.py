"""Engines: the threads of this machine, or a Ray cluster, apply one function to many items."""
