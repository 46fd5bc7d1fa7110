"""Shared parts of all reports: templates, rendering, units."""
