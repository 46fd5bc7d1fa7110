"""Statistics of repeated runs: pure functions on samples, each with the document that it follows.

`intervals` has means and their intervals, `ratios` compares two variants, `selection` corrects the best of several for
being chosen, `joint` tests many printed numbers at once, and `fairness` has Jain's index.
"""
