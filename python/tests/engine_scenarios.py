"""Thirty short scenarios that together use hosts, controls, queues, losses, applications, topologies and draws."""

from __future__ import annotations

from ackclock import columns

DUMBBELL = """
[topology]
kind = "dumbbell"
access_delays = ["1 ms", "5 ms", "20 ms"]
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = QUEUE }
"""
FLOWS = """
[[flow]]
name = "a"
count = 3
start_jitter = "300 ms"
HOST
[[flow]]
name = "b"
size = "300 kB"
start = "1 s"
HOST
"""
ALL = [table.trace for table in columns.tables().values() if table.trace]
"""Every trace."""


def shared(queue: str = '"1 BDP"', host: str = "", seconds: int = 4) -> str:
    """Return a scenario in which four flows share a bottleneck with this queue."""
    network = DUMBBELL.replace("QUEUE", queue)
    record = ", ".join(f'"{name}"' for name in ALL)
    return f'duration = "{seconds} s"\nseed = 7\nrecord = [{record}]\n{network}{FLOWS.replace("HOST", host)}'


QUEUES = {
    "red": '{ kind = "red", limit = "60 packets", mean_packet = "1000 B", target_delay = "20 ms" }',
    "pi": '{ kind = "pi", limit = "60 packets", reference = "20 packets" }',
    "rem": '{ kind = "rem", limit = "60 packets" }',
    "vq": '{ kind = "vq", limit = "60 packets" }',
    "gk": '{ kind = "gk", limit = "60 packets" }',
    "fq": '{ kind = "fq" }',
    "drr": '{ kind = "drr" }',
    "codel": '{ kind = "codel" }',
    "fq_codel": '{ kind = "fq_codel" }',
    "pie": '{ kind = "pie" }',
    "dualpi2": '{ kind = "dualpi2" }',
    "cobalt": '{ kind = "cobalt" }',
    "fq_cobalt": '{ kind = "fq_cobalt" }',
    "cake": '{ kind = "cake", bandwidth = "4 Mbit/s" }',
}
HOSTS = {
    "linux": 'host = "linux"',
    "freebsd": 'host = "freebsd"',
    "windows_11": 'host = "windows_11"',
    "bbr": 'host = "linux"\ncongestion_control = "bbr"',
    "hystart": 'profile = "modern"\nslow_start = "hystart_pp"\navoidance = "cubic"',
    "search": 'profile = "modern"\nslow_start = "search"\navoidance = "cubic_linux"',
    "paced": 'profile = "modern"\nslow_start = "paced"\navoidance = "polynomial"',
    "vegas": 'slow_start = "vegas"\navoidance = "vegas"\nrecovery = "vegas"',
    "westwood": 'avoidance = "binomial"\nloss_response = "westwood"\nrecovery = "newreno"',
    "veno": 'avoidance = "veno"\nrecovery = "reno"',
    "exponential": 'avoidance = "exponential"\nslow_start = "staged"\ndelayed_ack = true',
}
PAGE = """
duration = "8 s"
record = ["cwnd", "queue", "delivered"]
[topology]
kind = "chain"
access = { rate = "100 Mbit/s", delay = "5 ms" }
bottleneck = { rate = "3 Mbit/s", delay = "20 ms", queue = "20 packets" }
[[flow]]
name = "page"
host = "linux"
[flow.application]
kind = "web"
root = "30 kB"
objects = 12
object = { kind = "lognormal", mean = "10 kB", sigma = 1.2 }
think = "1 s"
"""
ASKING = """
duration = "6 s"
record = ["cwnd", "rtt"]
[[flow]]
name = "asks"
profile = "modern"
[flow.application]
kind = "request-response"
response = { kind = "pareto", mean = "20 kB", shape = 1.3 }
think = { kind = "exponential", mean = "50 ms" }
[[flow]]
name = "bursts"
[flow.application]
kind = "on-off"
burst = { kind = "exponential", mean = "40 kB" }
pause = { kind = "exponential", mean = "200 ms" }
[[flow]]
name = "voice"
[flow.application]
kind = "cbr"
rate = "64 kbit/s"
"""
ARRIVALS = """
duration = "6 s"
record = ["delivered", "drops"]
[topology]
kind = "dumbbell"
bottleneck = { rate = "8 Mbit/s", delay = "15 ms", queue = "40 packets" }
[[flow]]
name = "mice"
count = 4
[flow.arrivals]
load = "60 %"
size = { kind = "lognormal", mean = "30 kB", sigma = 1.5 }
"""
PARKING_LOT = """
duration = "5 s"
record = ["cwnd", "queue", "sequence"]
[topology]
kind = "parking-lot"
hops = 3
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets" }
[[flow]]
name = "long"
[[flow]]
name = "cross"
count = 3
start = "500 ms"
slow_start = { kind = "limited", max_ssthresh = "30 segments" }
"""
LOSSY = """
duration = "6 s"
record = ["delivered", "drops", "cwnd"]
[topology.bottleneck]
rate = "5 Mbit/s"
delay = "40 ms"
loss = { kind = "bernoulli", rate = "2 %", position = "after", generator = "mrg32k3a", stream = 2 }
reverse = { rate = "1 Mbit/s", loss = "0.5 %" }
[[flow]]
recovery = "tahoe"
[[flow]]
host = "macos"
"""
SATELLITE = """
duration = "8 s"
record = ["queue", "cwnd"]
[topology]
kind = "explicit"
node = ["server", "gateway", "client"]
[[topology.link]]
from = "server"
to = "gateway"
rate = "100 Mbit/s"
delay = "1 ms"
queue = "unlimited"
[[topology.link]]
from = "gateway"
to = "client"
rate = "8 Mbit/s"
delay = "250 ms"
queue = { kind = "tbf", rate = "6 Mbit/s", burst = "20 kB", limit = "200 packets" }
[flow]
from = "server"
to = "client"
initial_window = "10 segments"
initial_ssthresh = "64 segments"
"""
MARKED = '{ kind = "red", limit = "60 packets", mean_packet = "1000 B", target_delay = "10 ms" }'

SCENARIOS: dict[str, str] = {
    "droptail": shared(),
    "no records": shared().replace("record", "# record"),
    **{f"queue {name}": shared(queue) for name, queue in QUEUES.items()},
    **{f"host {name}": shared(host=host) for name, host in HOSTS.items()},
    "marks": shared(MARKED, "ecn = true"),
    "page": PAGE,
    "applications": ASKING,
    "arrivals": ARRIVALS,
    "parking lot": PARKING_LOT,
    "lossy": LOSSY,
    "satellite": SATELLITE,
}
