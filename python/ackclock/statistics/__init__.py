"""Statistics of repeated runs: pure functions on samples, each with its reference.

`intervals` computes means with their intervals, and `ratios` compares two variants. `selection` corrects the selection
bias of the best variant, `joint` tests many printed numbers at once, and `fairness` computes Jain's index.
"""
