"""Logs in the format qlog: written from the traces of a run, and read from any stack."""

from ackclock.qlogs.reading import Qlog, open_qlog
from ackclock.qlogs.writing import DIALECTS, SUFFIXES, TRACES, Recorded, encode, files, write

__all__ = ["DIALECTS", "SUFFIXES", "TRACES", "Qlog", "Recorded", "encode", "files", "open_qlog", "write"]
