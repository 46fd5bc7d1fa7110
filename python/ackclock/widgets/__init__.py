"""The live plot of a scenario in a notebook."""
