"""Units of the values in scenario files."""

from __future__ import annotations

UNITS: dict[str, tuple[str, float]] = {
    "ns": ("time", 1e-9), "us": ("time", 1e-6), "µs": ("time", 1e-6), "ms": ("time", 1e-3), "s": ("time", 1.0),
    "min": ("time", 60.0), "h": ("time", 3600.0),
    "bit/s": ("rate", 1.0), "kbit/s": ("rate", 1e3), "Mbit/s": ("rate", 1e6), "Gbit/s": ("rate", 1e9),
    "Tbit/s": ("rate", 1e12),
    "B": ("size", 1.0), "kB": ("size", 1e3), "MB": ("size", 1e6), "GB": ("size", 1e9), "TB": ("size", 1e12),
    "KiB": ("size", 2.0**10), "MiB": ("size", 2.0**20), "GiB": ("size", 2.0**30),
    "packet": ("packets", 1.0), "packets": ("packets", 1.0), "segment": ("packets", 1.0), "segments": ("packets", 1.0),
}  # fmt: skip
"""Kind and factor to the base unit of its kind: seconds, bit/s, bytes or packets."""
