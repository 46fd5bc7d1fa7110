"""The command line; what it needs is loaded when a command runs, so that it starts at once."""

from ackclock.cli.app import main

__all__ = ["main"]
