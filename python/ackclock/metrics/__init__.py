"""Measures: `registry` names and defines them, all other modules compute them.

The engine computes the columns of its tables. `flows` derives further ones of flows and applications, with `exits` (the
end of slow start against an oracle) and `spans` (values over spans of time). `groups` measures a group of flows such as
those under test, `runs` a whole run, and `completion` summarises completion times by size.
"""

from ackclock.metrics.registry import MEASURES, Measure, measures

__all__ = ["MEASURES", "Measure", "measures"]
