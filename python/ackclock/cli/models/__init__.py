"""The command `model`: parameters as they are written, evaluation at points, and comparison with runs."""
