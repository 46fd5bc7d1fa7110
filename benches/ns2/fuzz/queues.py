"""Random queue disciplines, each with its settings in a scenario and in ns-2."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

Settings = dict[str, object]


@dataclass
class Queue:
    """A queue discipline in both programs.

    Attributes
    ----------
    kind
        ns-2's name.
    ours
        Keys of the scenario's table.
    limit
        `limit_`.
    of_class, of_queue
        Settings of ns-2's class before the link exists, and of the queue afterwards.
    command
        A Tcl command for further settings.
    """

    kind: str
    ours: Settings
    limit: int
    of_class: Settings = field(default_factory=dict)
    of_queue: Settings = field(default_factory=dict)
    command: str = ""


@dataclass
class _Wanted:
    """Requirements of a queue: generator, limit in packets, number of flows, and whether it marks."""

    draw: random.Random
    limit: int
    flows: int
    marks: bool


def queue(draw: random.Random, flows: int, *, marks: bool) -> Queue:
    """Draw a queue for `flows` flows; `marks` restricts the choice to disciplines that can mark."""
    wanted = _Wanted(draw, draw.choice([5, 10, 20, 30, 50, 50, 70, 80, 100, 200]), flows, marks)
    makers = [_red, _red, _pi, _rem, _vq, _gk]
    if not marks:
        makers += [_droptail] * (12 if flows == 1 else 4) + [_fq, _sfq, _drr, _srr]
    return draw.choice(makers)(wanted)


def _droptail(wanted: _Wanted) -> Queue:
    wanted.limit = wanted.draw.choice([wanted.limit, wanted.draw.randrange(2, 100)])
    return Queue("DropTail", {"kind": "droptail", "limit": f"{wanted.limit} packets"}, wanted.limit)


def _red(wanted: _Wanted) -> Queue:
    wanted.limit = max(wanted.limit, 30)
    ours: Settings = {"kind": "red", "limit": f"{wanted.limit} packets", "ecn": wanted.marks}
    theirs: Settings = {"setbit_": _word(wanted.marks)}

    def choose(chance: float, name: str, key: str, *values: tuple[object, object]) -> None:
        if wanted.draw.random() < chance:
            ours[key], theirs[name] = wanted.draw.choice(values)

    if wanted.draw.random() < 0.3:
        ours["mode"] = "packets"
        theirs |= {"bytes_": "false", "queue_in_bytes_": "false"}
    choose(0.6, "mean_pktsize_", "mean_packet", *((f"{size} B", size) for size in (500, 1000, 1040, 1500)))
    if wanted.draw.random() < 0.5:
        low, high = wanted.draw.choice([(5, 10), (5, 15), (8, 24), (10, 30), (15, 25)])
        ours |= {"min_threshold": f"{low} packets", "max_threshold": f"{high} packets"}
        theirs |= {"thresh_": low, "maxthresh_": high}
    else:
        choose(0.4, "targetdelay_", "target_delay", ("10 ms", 0.01), ("20 ms", 0.02))
    choose(0.5, "q_weight_", "weight", *((weight, weight) for weight in (0.002, 0.005, 0.02, 0.1)))
    choose(0.4, "linterm_", "max_p", ("2 %", 50), ("5 %", 20), ("20 %", 5), ("50 %", 2))
    choose(0.3, "gentle_", "gentle", (False, "false"))
    choose(0.3, "wait_", "wait", (False, "false"))
    choose(0.3, "adaptive_", "adaptive", (True, 1))
    if wanted.marks:
        choose(0.5, "mark_p_", "mark_below", ("5 %", 0.05), ("30 %", 0.3), ("100 %", 1.0))
    return Queue("RED", ours, wanted.limit, of_class=theirs)


def _pi(wanted: _Wanted) -> Queue:
    reference = wanted.draw.choice([5, 10, 20, 50])
    gain, frequency = wanted.draw.choice([(1, 170), (10, 170), (5, 50), (20, 400)])
    # 1.822e-05 times a whole number, with the same digits in both programs.
    a, b = round(0.00001822 * gain, 9), round(0.00001816 * gain, 9)
    ours: Settings = {
        "kind": "pi",
        "limit": f"{wanted.limit} packets",
        "reference": f"{reference} packets",
        "ecn": wanted.marks,
    }
    ours |= {"a": a, "b": b, "frequency": frequency}
    theirs: Settings = {"qref_": reference, "a_": a, "b_": b, "w_": frequency, "setbit_": _word(wanted.marks)}
    return Queue("PI", ours, wanted.limit, of_class=theirs)


def _rem(wanted: _Wanted) -> Queue:
    gamma, phi = wanted.draw.choice([0.0005, 0.001, 0.005]), wanted.draw.choice([1.001, 1.001, 1.01])
    reference, size = wanted.draw.choice([5, 10, 20]), wanted.draw.choice([500, 1000, 1040])
    interval = wanted.draw.choice([2, 2, 10])
    ours: Settings = {
        "kind": "rem",
        "limit": f"{wanted.limit} packets",
        "gamma": gamma,
        "phi": phi,
        "reference": reference,
    }
    ours |= {"mean_packet": f"{size} B", "interval": f"{interval} ms", "ecn": wanted.marks}
    theirs: Settings = {"gamma_": gamma, "phi_": phi, "pbo_": float(reference), "mean_pktsize_": size}
    theirs |= {"pupdtime_": interval / 1000, "markpkts_": _word(wanted.marks)}
    return Queue("REM", ours, wanted.limit, of_class=theirs)


def _vq(wanted: _Wanted) -> Queue:
    mode, size = wanted.draw.choice(["bytes", "packets"]), wanted.draw.choice([500, 1000, 1040])
    share, gamma = wanted.draw.choice([80, 80, 95]), wanted.draw.choice([98, 98, 90])
    ours: Settings = {
        "kind": "vq",
        "limit": f"{wanted.limit} packets",
        "mode": mode,
        "mean_packet": f"{size} B",
        "ecn": wanted.marks,
    }
    ours |= {"drop_incapable": not wanted.marks, "initial_capacity": f"{share} %", "gamma": f"{gamma} %"}
    theirs: Settings = {
        "queue_in_bytes_": _word(mode == "bytes"),
        "mean_pktsize_": size,
        "markpkts_": _word(wanted.marks),
    }
    theirs |= {"ecnlim_": share / 100, "gamma_": gamma / 100}
    return Queue("Vq", ours, wanted.limit, of_class=theirs)


def _gk(wanted: _Wanted) -> Queue:
    share, size = wanted.draw.choice([95, 80]), wanted.draw.choice([500, 1000, 1040])
    ours: Settings = {
        "kind": "gk",
        "limit": f"{wanted.limit} packets",
        "share": f"{share} %",
        "mean_packet": f"{size} B",
    }
    return Queue("GK", ours, wanted.limit, of_class={"ecnlim_": share / 100, "mean_pktsize_": size})


def _fq(wanted: _Wanted) -> Queue:
    return Queue("FQ", {"kind": "fq", "flow_limit": f"{wanted.limit} packets"}, wanted.limit)


def _sfq(wanted: _Wanted) -> Queue:
    buckets = wanted.draw.choice([16, 16, 8, 32])
    theirs: Settings = {"maxqueue_": wanted.limit, "buckets_": buckets}
    return Queue(
        "SFQ", {"kind": "sfq", "limit": f"{wanted.limit} packets", "buckets": buckets}, wanted.limit, of_class=theirs
    )


def _drr(wanted: _Wanted) -> Queue:
    quantum, buckets, size = wanted.draw.choice([250, 500, 1500]), wanted.draw.choice([10, 20, 40]), wanted.limit * 1040
    ours: Settings = {"kind": "drr", "limit": f"{size} B", "quantum": f"{quantum} B", "buckets": buckets}
    return Queue("DRR", ours, wanted.limit, of_class={"blimit_": size, "quantum_": quantum, "buckets_": buckets})


def _srr(wanted: _Wanted) -> Queue:
    quantum = wanted.draw.choice([500, 1000, 1500])
    queues = "; ".join(f"$queue setqueue {fid} {fid}; $queue setrate {fid} 1000" for fid in range(1, wanted.flows + 1))
    theirs: Settings = {"maxqueuenumber_": wanted.flows + 1, "mtu_": quantum}
    ours: Settings = {"kind": "srr", "flow_limit": f"{wanted.limit} packets", "quantum": f"{quantum} B"}
    return Queue("SRR", ours, wanted.limit, of_class=theirs, command=queues)


def _word(flag: bool) -> str:
    return "true" if flag else "false"
