"""The judge: how large a difference is, how sure it is, and whether it matters.

Papers, comparisons, matrices, gates, tunings, and comparisons with a kernel ask it. They differ only in their question:

- `effects` compares pairs of runs: the estimate with its interval, the p-value corrected for its family, and a verdict;
- `limits` says whether an estimate lies within limits, as the claims of papers need it;
- `samples` has the estimates, each with its interval and with the tests that belong to it;
- `evidence` combines the p-values of a claim, and corrects them for all claims of a paper;
- `tolerances` is the table of what "exactly", "the same", "about", "up to" and "better" mean;
- `words` states findings.

Every p-value is the smallest α at which the interval of confidence 1 − α decides. So a verdict, which needs a
corrected p-value of at most 5 %, never contradicts the 95 % interval beside it.
"""
