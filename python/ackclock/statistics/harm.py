"""Harm to a competing flow: the share of its solo performance that competition costs it."""

from __future__ import annotations


def harm_to_more(solo: float, beside: float) -> float | None:
    """Harm in a measure of which more is better, such as throughput: (x − y)/x.

    Parameters
    ----------
    solo
        Performance alone, x.
    beside
        Performance in competition, y.

    Returns
    -------
    float or None
        0 for no harm, 1 for the greatest harm, below 0 for a benefit; None if the solo performance is 0.

    References
    ----------
    R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry, *Beyond Jain's fairness index: setting the bar for the deployment
    of congestion control algorithms*, HotNets 2019, §4.
    """
    return (solo - beside) / solo if solo else None


def harm_to_less(solo: float, beside: float) -> float | None:
    """Harm in a measure of which less is better, such as latency or loss: (y − x)/y; 0 if both are 0.

    Parameters, result and reference are those of `harm_to_more`; None if only the performance in competition is 0.
    """
    if beside:
        return (beside - solo) / beside
    return None if solo else 0.0
