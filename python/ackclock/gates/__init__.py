"""The gate: two results of the same experiment, compared point by point."""
