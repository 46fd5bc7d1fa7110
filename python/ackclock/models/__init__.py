"""Analytic models: evaluated at many points, and compared with measurements."""
