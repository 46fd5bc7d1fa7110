"""The shared parts of all reports: templates, rendering, units."""
