"""Makes the picture of docs/guides/matrix.md, docs/images/matrix.png: python docs/images/matrix.py."""

from pathlib import Path

import ackclock
from ackclock import plot

found = ackclock.matrix(loss_response="own", recovery=["sack", "newreno", "tahoe"], paths="long_fat", seeds=1)
plot.save(found.plot("long_fat"), Path(__file__).with_suffix(".png"))
