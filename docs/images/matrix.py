"""Makes the picture of docs/guides/comparing.md, docs/images/matrix.png: python docs/images/matrix.py."""

from pathlib import Path

import ackclock
from ackclock.drawing.files import save

found = ackclock.matrix(
    slow_start=["standard", "limited", "staged"],
    avoidance=["reno", "binomial", "polynomial", "exponential"],
    loss_response="own",
    recovery=["sack", "newreno", "tahoe"],
    paths="long_fat",
)
save(found.plot("long_fat"), Path(__file__).with_suffix(".png"))
