"""Statistics of repeated runs: pure functions on samples, each with its reference.

`intervals` computes means with their intervals, and `ratios` compares two variants. `selection` corrects the bias of
the best of several variants, `joint` tests many printed numbers at once, `fairness` computes Jain's index, and `harm`
the share of its performance that competition costs a flow. `samples` draws points of the unit cube. `pairs` compares
variants that ran with equal seeds, `bootstrap` resamples, `tails` tests means and ratios against limits, `families`
corrects many p-values, `series` analyses one long run, `sequential` ends a series of runs, and `ranks`
correlates ranks.
"""
