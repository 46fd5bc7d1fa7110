"""The command line. A command imports the modules that it needs when it runs, so that the program starts quickly."""

from ackclock.cli.app import main

__all__ = ["main"]
