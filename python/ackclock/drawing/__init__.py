"""Figures: curves, queues, internals, models, distributions and heat maps."""
