"""Measures a Reno in Python against the built-in parts: python benches/python_control.py."""

import math

import polars

import ackclock


class Reno(ackclock.CongestionControl):
    """Reno as `ns2_table`, `standard` and `reno` compute it: ssthresh in whole segments, the window in fractions."""

    def on_established(self, event: ackclock.Established) -> None:  # noqa: ARG002
        """Start with four segments."""
        self.cwnd = 4.0

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        """Halve the window, or restart at one segment."""
        self.ssthresh = max(2.0, math.floor(event.window / 2))
        self.cwnd = 1.0 if event.restart else event.window / 2


builtin = ackclock.Scenario(duration="250 s", flow=[{}])
python = ackclock.Scenario(duration="250 s", flow=[{"congestion_control": Reno}])
a, b = (min((ackclock.run(each) for _ in range(5)), key=lambda run: run.cpu_seconds) for each in (builtin, python))
assert polars.DataFrame(a.flows).drop("control").equals(polars.DataFrame(b.flows).drop("control"))
print(f"{b.cpu_seconds:.3f} s instead of {a.cpu_seconds:.3f} s of CPU time")
print(f"{b.cpu_seconds / a.cpu_seconds:.1f} times as long")
