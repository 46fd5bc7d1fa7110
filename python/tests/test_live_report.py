"""Live reports: their data, the rules of verdicts in the page, and runs in a headless browser."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ackclock.reports import live

ROOT = Path(__file__).parents[2]
CODE = ROOT / "web" / "src" / "report"
NODE = next((path for path in (str(ROOT / ".venv/bin/node"), shutil.which("node")) if path and Path(path).exists()), "")
LARGEST = 6_000_000
PAPERS = ("ass", "exp", "icw", "rbt", "westwood-rb")


def version() -> tuple[int, ...]:
    """Return the version of Node, which runs TypeScript from 22.18 on."""
    if not NODE:
        return (0,)
    said = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in said.strip().lstrip("v").split("."))


node = pytest.mark.skipif(
    version() < (22, 18) or not CODE.is_dir(), reason="no Node 22.18 or newer, or no sources of the page"
)
engine = pytest.mark.skipif(not live.built(), reason="the engine for pages is not built: make web")

PAPER = """\
title = "Alive <b>& kicking</b>"
reference = "nobody"
labels = ["study", "queue"]
flows = "algorithm"

[[experiment]]
file = "flows.toml"

[[experiment]]
file = "page.toml"
labels = { study = "pages" }

[[model]]
name = "rounds"
labels = { study = "model", queue = "5 packets", algorithm = "model" }
parameters = { loss = "2 %" }

[[repeat]]
where = { study = "seeds" }
sampling = "seed"
count = 3
common = 2
spans = { late = [5, 8] }
cwnd = { cwnd_mean = [0, 8] }
derived = ["share", "eq7", "jain", "resent", "estimate"]

[[repeat]]
where = { study = "jitter" }
sampling = "seed"
count = 2
jitter = {}
exact = 1
derived = ["rtt"]

[[repeat]]
where = { study = "paths" }
sampling = "path"
count = 2
spread = "60 ms"
exact = 2

[[repeat]]
where = { study = "starts" }
sampling = "offset"
count = 4
spread = "60 ms"
derived = ["share"]

[[repeat]]
where = { study = "model" }
sampling = "seed"
count = 3

[[repeat]]
where = { study = "pages" }
sampling = "seed"
count = 2
derived = ["rtt", "pages"]

[[chart]]
kind = "lines"
title = "data </script><script>alert(1)</script>"
where = { study = "seeds" }
x = "queue"
metric = "delivered_bytes"
axis = "kB"
scale = 1e-3

[[chart]]
kind = "bars"
title = "ratio of the flows"
where = { study = "starts" }
x = "queue"
metric = "delivered_bytes"
over = "b"

[[chart]]
kind = "map"
title = "share"
where = { study = "seeds" }
x = "queue"
y = "study"
metric = "share"
flow = "a"

[[chart]]
kind = "time"
title = "windows"
where = { study = "seeds", queue = "5 packets" }
trace = "cwnd"

[[chart]]
kind = "time"
title = "throughput"
where = { study = "seeds", queue = "20 packets" }
trace = "throughput"
bin = 0.5

[[chart]]
kind = "internals"
title = "estimate"
where = { study = "seeds", queue = "5 packets" }
flow = "a"
names = ["bwe"]
"""
SCENARIO = """\
duration = "8 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s", delay = "20 ms" } }

[[flow]]
name = "a"
start_jitter = "1 s"
loss_response = "westwood"

[[flow]]
name = "b"
start_jitter = "1 s"

[sweep.study]
seeds = { "topology.bottleneck.loss" = "1 %" }
jitter = {}
paths = { "flow.start_jitter" = "0 s" }
starts = { "flow.start_jitter" = "0 s" }

[sweep]
queue = { "5 packets" = { "topology.bottleneck.queue" = "5 packets" }, "20 packets" = { "topology.bottleneck.queue" = "20 packets" } }
"""
PAGE = """\
duration = "20 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s", delay = "20 ms", queue = "20 packets" } }

[[flow]]
name = "web"
profile = "modern"

[flow.application]
kind = "web"
root = "10 kB"
objects = 4
object = { kind = "exponential", mean = "5 kB" }
pages = 6
think = "1 s"

[sweep]
queue = { "5 packets" = { "topology.bottleneck.queue" = "5 packets" }, "20 packets" = { "topology.bottleneck.queue" = "20 packets" } }
"""
CLAIMS = """\
metrics = ["delivered_bytes"]

[[claim]]
id = "b-leads"
text = "b gets more than a"
source = "§1"
kind = "order"
axis = "algorithm"
where = { study = "seeds", queue = "20 packets" }
lead = ["b"]
rest = ["a"]
metrics = ["delivered_bytes", "cwnd_mean"]

[[claim]]
id = "queue"
text = "the queue does not matter"
source = "§2"
kind = "equal"
axis = "queue"
where = { study = "seeds" }
metrics = ["jain"]

[[claim]]
id = "paths"
text = "both get the same"
source = "§3"
kind = "bound"
axis = "algorithm"
where = { study = "paths" }
of = "a"
to = "b"
low = 0.2
high = 5

[[claim]]
id = "model"
text = "a model says so"
source = "§4"
kind = "bound"
axis = "study"
where = { queue = "5 packets" }
of = "model"
low = 0
metrics = ["window_rate"]
"""
