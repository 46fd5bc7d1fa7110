"""Analytic models: throughput, windows and efficiency by formula, or by the simulation of a chain without a network.

Every model is a function of keyword arguments. A quantity is a number in SI units (seconds, bit/s, bytes, 0 to 1), a
text with its unit (``"20 ms"``), or an array or list of either; arrays broadcast, in one call of the compiled core.
Simulated models take lists of values and return a table with a row for each combination.

>>> import ackclock
>>> round(ackclock.model.mathis(loss="1 %", rtt="20 ms", packet_size="1000 B").throughput)
4898979
"""
# Made by docs/generate.py from the models in crates/models/src; change the models, not this file.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ackclock.models.evaluate import Quantity, Values, evaluate, table, trace

if TYPE_CHECKING:
    import polars

__all__ = [
    "Bdp",
    "Growth",
    "InitialWindow",
    "Mathis",
    "Pftk",
    "Population",
    "Rbt",
    "Response",
    "SlidingWindow",
    "arq",
    "bdp",
    "growth",
    "initial_window",
    "mathis",
    "pftk",
    "population",
    "population_trace",
    "rbt",
    "response",
    "rounds",
    "rounds_trace",
    "sliding_window",
]


class Mathis(NamedTuple):
    """Outputs of `mathis`."""

    throughput: Values
    """Packet size · C/(RTT·√p), in bit/s."""
    window: Values
    """Mean window, C/√p, in packets."""
    c: Values
    """C."""


def mathis(
    *,
    loss: Quantity = "1 %",
    rtt: Quantity = "100 ms",
    packet_size: Quantity = "1000 B",
    b: Quantity = 1.0,
    constant: Quantity | None = None,
) -> Mathis:
    """Throughput by the square root of the loss rate, without timeouts.

    Mathis, Semke, Mahdavi & Ott, The macroscopic behavior of the TCP congestion avoidance algorithm, equation 3.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    packet_size
        Payload of a packet; the scenario's default; in bytes, or a text.
    b
        Packets that one ACK acknowledges: 1, or 2 with delayed ACKs; a number.
    constant
        C; None: √(3/(2b)), that is 1.22 for b = 1; a number.

    Returns
    -------
    Mathis
        ``throughput``, ``window``, ``c``: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "mathis",
        {
            "loss": loss,
            "rtt": rtt,
            "packet_size": packet_size,
            "b": b,
            "constant": constant,
        },
    )
    return Mathis(*outputs)


class Pftk(NamedTuple):
    """Outputs of `pftk`."""

    throughput: Values
    """Send rate of the full model, in bit/s."""
    approximation: Values
    """Send rate of the short formula, in bit/s."""
    window: Values
    """Mean unlimited window at the end of a cycle, E[W], in packets."""
    timeout_probability: Values
    """Probability that a loss leads to a timeout, Q."""


def pftk(
    *,
    loss: Quantity = "1 %",
    rtt: Quantity = "100 ms",
    packet_size: Quantity = "1000 B",
    b: Quantity = 1.0,
    rto: Quantity = "1 s",
    rwnd: Quantity | None = None,
) -> Pftk:
    """Throughput of Reno with timeouts and a limited window.

    Padhye, Firoiu, Towsley & Kurose, Modeling TCP throughput: a simple model and its empirical validation, 1998.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    packet_size
        Payload of a packet; the scenario's default; in bytes, or a text.
    b
        Packets that one ACK acknowledges: 1, or 2 with delayed ACKs; a number.
    rto
        First retransmission timeout, T0; in seconds, or a text.
    rwnd
        Largest window, W_max; None: no limit; in packets, or a text.

    Returns
    -------
    Pftk
        ``throughput``, ``approximation``, ``window``, ``timeout_probability``: numbers, or arrays of the common
        shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "pftk",
        {
            "loss": loss,
            "rtt": rtt,
            "packet_size": packet_size,
            "b": b,
            "rto": rto,
            "rwnd": rwnd,
        },
    )
    return Pftk(*outputs)


class Response(NamedTuple):
    """Outputs of `response`."""

    window: Values
    """Mean window, in packets."""
    throughput: Values
    """Mean window times packet size per round-trip time, in bit/s."""
    reno_ratio: Values
    """Mean window relative to Reno at the same loss rate."""


def response(
    *,
    loss: Quantity = "1 %",
    law: Literal["reno", "aimd", "cubic", "highspeed"] = "reno",
    rtt: Quantity = "100 ms",
    packet_size: Quantity = "1000 B",
    alpha: Quantity = 1.0,
    beta: Quantity = 0.5,
    c: Quantity = 0.4,
    cubic_beta: Quantity = 0.7,
) -> Response:
    """Mean window and throughput of Reno, AIMD, CUBIC and HighSpeed by the loss rate.

    RFC 9438 §5, RFC 3649 §5.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    law
        Congestion control.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    packet_size
        Payload of a packet; the scenario's default; in bytes, or a text.
    alpha
        Packets that aimd adds per round trip; a number.
    beta
        Share of the window that remains after a loss with aimd; a number.
    c
        Growth constant of cubic, C, in packets per second cubed; a number.
    cubic_beta
        Share of the window that remains after a loss with cubic; a number.

    Returns
    -------
    Response
        ``window``, ``throughput``, ``reno_ratio``: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "response",
        {
            "loss": loss,
            "law": law,
            "rtt": rtt,
            "packet_size": packet_size,
            "alpha": alpha,
            "beta": beta,
            "c": c,
            "cubic_beta": cubic_beta,
        },
    )
    return Response(*outputs)


class Bdp(NamedTuple):
    """Outputs of `bdp`."""

    bdp: Values
    """Bandwidth-delay product, in B."""
    bdp_packets: Values
    """Bandwidth-delay product in packets, in packets."""
    rule_of_thumb: Values
    """Buffer with which one flow that halves its window keeps the link busy, in packets."""
    sqrt_n: Values
    """Rule of thumb divided by the square root of the number of flows, in packets."""
    utilisation: Values
    """Share of the link that one AIMD flow uses with this buffer."""
    full_buffer: Values
    """Smallest buffer with which one AIMD flow uses all of the link, in packets."""


def bdp(
    *,
    buffer: Quantity | None = None,
    rate: Quantity = "10 Mbit/s",
    rtt: Quantity = "100 ms",
    packet_size: Quantity = "1040 B",
    flows: Quantity = 1,
    beta: Quantity = 0.5,
) -> Bdp:
    """Bandwidth-delay product, buffer sizes, and the utilisation of one AIMD flow.

    Appenzeller, Keslassy & McKeown, Sizing router buffers, 2004.

    Parameters
    ----------
    buffer
        Buffer in packets; None: one bandwidth-delay product; in packets, or a text.
    rate
        Rate of the bottleneck; in bit/s, or a text.
    rtt
        Round-trip time without queueing; in seconds, or a text.
    packet_size
        Packet size, headers included; in bytes, or a text.
    flows
        Number of desynchronised flows that share the buffer; a whole number.
    beta
        Share of the window that remains after a loss; a number.

    Returns
    -------
    Bdp
        ``bdp``, ``bdp_packets``, ``rule_of_thumb``, ``sqrt_n``, ``utilisation``, ``full_buffer``: numbers, or
        arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "bdp",
        {
            "buffer": buffer,
            "rate": rate,
            "rtt": rtt,
            "packet_size": packet_size,
            "flows": flows,
            "beta": beta,
        },
    )
    return Bdp(*outputs)


class Rbt(NamedTuple):
    """Outputs of `rbt`."""

    rtt: Values
    """Round-trip time, RTD (equation 3), in s."""
    required_buffer: Values
    """RBS (equation 4), in B."""
    throughput_loss: Values
    """THR with losses (equation 5), in bit/s."""
    throughput_window: Values
    """THR without losses (equation 6), in bit/s."""
    throughput: Values
    """The smaller of throughput_loss and throughput_window, in bit/s."""
    st: Values
    """Time at which the window reaches ssthresh, in s."""
    pt: Values
    """Time of the loss, in s."""
    peak: Values
    """Window at the loss, P, in B."""
    ste: Values
    """Time at which RBT starts on the slow start line, in s."""
    window_standard: Values
    """Mean window of SSCCM over a period, in B."""
    window_rbt: Values
    """Mean window of RBT over a period, in B."""
    gain: Values
    """RBT over SSCCM, integrals of the windows."""
    gain_printed: Values
    """RBT over SSCCM, equation 10 exactly as printed."""
    gain_weighted: Values
    """RBT over SSCCM, integrals of the windows times t."""
    gain_first_printed: Values
    """RBT over SSCCM, only the first integrand as printed."""


def rbt(
    *,
    loss: Quantity = "1 %",
    distance_km: Quantity = 1000.0,
    segment: Quantity = "1540 B",
    mss: Quantity = "1500 B",
    ssthresh: Quantity = "65536 B",
    rwnd: Quantity = "65536 B",
    rate: Quantity = "45 Mbit/s",
) -> Rbt:
    """Closed forms of Return Back to Threshold: table 2, and the gain in every reading.

    Preveze, A novel method for performance improvement of slow start congestion control method, 2019, equations 3
    to 11.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    distance_km
        Path length in kilometres; a number.
    segment
        M of table 2: growth of the window per round trip in slow start; in bytes, or a text.
    mss
        MSS of equation 5; in bytes, or a text.
    ssthresh
        S: threshold at which slow start ends; in bytes, or a text.
    rwnd
        Receiver's window; in bytes, or a text.
    rate
        Link rate, for the required buffer; in bit/s, or a text.

    Returns
    -------
    Rbt
        ``rtt``, ``required_buffer``, ``throughput_loss``, ``throughput_window``, ``throughput``, ``st``, ``pt``,
        ``peak``, ``ste``, ``window_standard``, ``window_rbt``, ``gain``, ``gain_printed``, ``gain_weighted``,
        ``gain_first_printed``: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "rbt",
        {
            "loss": loss,
            "distance_km": distance_km,
            "segment": segment,
            "mss": mss,
            "ssthresh": ssthresh,
            "rwnd": rwnd,
            "rate": rate,
        },
    )
    return Rbt(*outputs)


def rounds(
    *,
    loss: Quantity = "1 %",
    seed: Quantity = 1,
    rounds: Quantity = 1000,
    warmup: Quantity = 0,
    response: Literal["restart", "threshold", "window"] | Sequence[str] = "restart",
    packet_size: Quantity = "1500 B",
    ssthresh: Quantity = "65536 B",
    rwnd: Quantity = "65536 B",
    capped: bool = False,
    rtt: Quantity = "24900 us",
    rate: Quantity = "45 Mbit/s",
    ack_size: Quantity = "40 B",
    halves: bool = True,
    losses: Literal["random", "periodic"] | Sequence[str] = "random",
    jobs: int | None = None,
) -> polars.DataFrame:
    """One packet per round trip: SSCCM and Return Back to Threshold as a Markov chain, by simulation.

    Preveze, A novel method for performance improvement of slow start congestion control method, 2019, §3 and §4.

    Every parameter takes one value or a list of values. All combinations are simulated, on all processors.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    seed
        Seed of the run; a whole number.
    rounds
        Rounds that count, after the warm-up; a whole number.
    warmup
        Rounds of the warm-up; a whole number.
    response
        Window after a loss: MSS; ssthresh − MSS²/cwnd (RBT); cwnd − MSS²/cwnd (figure 7).
    packet_size
        MSS; in bytes, or a text.
    ssthresh
        Initial ssthresh; in bytes, or a text.
    rwnd
        Receiver's window; in bytes, or a text.
    capped
        Limits the window to rwnd.
    rtt
        Round-trip time, the duration of a round; in seconds, or a text.
    rate
        Link rate; in bit/s, or a text.
    ack_size
        Size of an ACK; in bytes, or a text.
    halves
        Halves ssthresh at a loss (§4) instead of leaving it unchanged (equation 10).
    losses
        Losses: each round with probability loss, or every 1/loss-th round (figure 7).
    jobs
        Threads; by default one per processor. Results do not depend on it.

    Returns
    -------
    polars.DataFrame
        A row for each combination: all parameters that are not None, and the outputs:
        ``window``, mean of cwnd over rounds, in B; ``window_rate``, mean of cwnd per round-trip time, in bit/s;
        ``acked_window_rate``, mean of cwnd per round-trip time, with zero for lost rounds, in bit/s;
        ``packet_rate``, packets acknowledged times MSS per second, in bit/s; ``net_rate``, numerator of equation 1
        per second: delivered packets minus their ACKs, in bit/s; ``utilisation``, equation 1, relative to the
        link's capacity over the run; ``equation_2``, equation 2, in bit/s; ``acked``, rounds without loss, in
        packets; ``lost``, rounds with loss, in packets.

    Raises
    ------
    ValueError
        If a value is invalid.
    """
    return table(
        "rounds",
        {
            "loss": loss,
            "seed": seed,
            "rounds": rounds,
            "warmup": warmup,
            "response": response,
            "packet_size": packet_size,
            "ssthresh": ssthresh,
            "rwnd": rwnd,
            "capped": capped,
            "rtt": rtt,
            "rate": rate,
            "ack_size": ack_size,
            "halves": halves,
            "losses": losses,
        },
        jobs,
    )


def rounds_trace(
    *,
    loss: Quantity = "1 %",
    seed: Quantity = 1,
    rounds: Quantity = 1000,
    warmup: Quantity = 0,
    response: Literal["restart", "threshold", "window"] = "restart",
    packet_size: Quantity = "1500 B",
    ssthresh: Quantity = "65536 B",
    rwnd: Quantity = "65536 B",
    capped: bool = False,
    rtt: Quantity = "24900 us",
    rate: Quantity = "45 Mbit/s",
    ack_size: Quantity = "40 B",
    halves: bool = True,
    losses: Literal["random", "periodic"] = "random",
) -> polars.DataFrame:
    """Give every round of one run of `rounds`; the last row has the run's means.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    seed
        Seed of the run; a whole number.
    rounds
        Rounds that count, after the warm-up; a whole number.
    warmup
        Rounds of the warm-up; a whole number.
    response
        Window after a loss: MSS; ssthresh − MSS²/cwnd (RBT); cwnd − MSS²/cwnd (figure 7).
    packet_size
        MSS; in bytes, or a text.
    ssthresh
        Initial ssthresh; in bytes, or a text.
    rwnd
        Receiver's window; in bytes, or a text.
    capped
        Limits the window to rwnd.
    rtt
        Round-trip time, the duration of a round; in seconds, or a text.
    rate
        Link rate; in bit/s, or a text.
    ack_size
        Size of an ACK; in bytes, or a text.
    halves
        Halves ssthresh at a loss (§4) instead of leaving it unchanged (equation 10).
    losses
        Losses: each round with probability loss, or every 1/loss-th round (figure 7).

    Returns
    -------
    polars.DataFrame
        ``round``, number of the round, from 1; ``time``, end of the round, in s; ``cwnd``, window at the start of
        the round, in B; ``ssthresh``, threshold at the start of the round, in B; ``acked``, whether the round's
        packet was acknowledged; ``window_rate``, output `window_rate` if the run ended here, in bit/s;
        ``acked_window_rate``, output `acked_window_rate` if the run ended here, in bit/s; ``packet_rate``, output
        `packet_rate` if the run ended here, in bit/s.

    Raises
    ------
    ValueError
        If a value is invalid.
    """
    return trace(
        "rounds",
        {
            "loss": loss,
            "seed": seed,
            "rounds": rounds,
            "warmup": warmup,
            "response": response,
            "packet_size": packet_size,
            "ssthresh": ssthresh,
            "rwnd": rwnd,
            "capped": capped,
            "rtt": rtt,
            "rate": rate,
            "ack_size": ack_size,
            "halves": halves,
            "losses": losses,
        },
    )


class InitialWindow(NamedTuple):
    """Outputs of `initial_window`."""

    rounds: Values
    """D: mean rounds in slow start (equation 5), in rounds."""
    time: Values
    """Mean time in slow start, in s."""
    loss_window: Values
    """L: mean window at the first loss (equation 7), in segments."""
    whole_rounds: Values
    """Mean of whole rounds until a flow's end or first loss, in rounds."""
    whole_time: Values
    """Mean time of these rounds, in s."""
    whole_window: Values
    """Mean window of the last of these rounds, in segments."""
    size: Values
    """Mean size of a flow, in segments."""
    delivered: Values
    """Mean of E[S]ₛ: segments delivered before the first loss, in segments."""
    lossless: Values
    """Share of flows without loss."""
    printed_sum: Values
    """Sum of the printed equation 1."""


def initial_window(
    *,
    window: Quantity = "2 segments",
    loss: Quantity = "1 %",
    mu: Quantity = 10.0,
    theta: Quantity = 100,
    rtt: Quantity = "100 ms",
    start: Literal["initial", "one"] = "initial",
) -> InitialWindow:
    """Rounds and final windows of short flows in slow start, by the initial window.

    Aniemeka, Transmission Control Protocol's initial congestion window for web latency reduction, 2018, equations 1
    to 7.

    Parameters
    ----------
    window
        Initial window, V; in packets, or a text.
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    mu
        Scale of the flow sizes in segments, μ; a number.
    theta
        Size of the largest flow in segments, θ; a whole number.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    start
        Starting window of equation 6: the initial window, or one segment, as printed.

    Returns
    -------
    InitialWindow
        ``rounds``, ``time``, ``loss_window``, ``whole_rounds``, ``whole_time``, ``whole_window``, ``size``,
        ``delivered``, ``lossless``, ``printed_sum``: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "initial_window",
        {
            "window": window,
            "loss": loss,
            "mu": mu,
            "theta": theta,
            "rtt": rtt,
            "start": start,
        },
    )
    return InitialWindow(*outputs)


class Population(NamedTuple):
    """Outputs of `population`."""

    mean_window: Values
    """Mean initial window, in segments."""
    commonest: Values
    """Initial window with the largest share, in segments."""
    largest_share: Values
    """Share of that window."""
    played: Values
    """Number of windows with a share of at least a millionth."""
    stable: Values
    """1 if evolutionarily stable, 0 if not."""
    margin: Values
    """Smallest cost disadvantage of an invader; negative if an invader does better, in rounds."""
    drift: Values
    """Largest remaining rate of change of a share."""
    mean_loss: Values
    """Mean probability that a packet is lost."""
    rounds: Values
    """Mean cost: round trips until a flow is complete, in rounds."""
    time: Values
    """Mean cost as time, in s."""
    optimum_rounds: Values
    """Lowest mean cost of any shares, in rounds."""
    optimum_window: Values
    """Mean initial window at the lowest mean cost, in segments."""
    price_of_anarchy: Values
    """Mean cost over the lowest mean cost."""


def population(
    *,
    windows: Sequence[float] | str = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 48.0),
    flows: Quantity = 6,
    loss: Quantity = "0 %",
    mu: Quantity = 10.0,
    theta: Quantity = 100,
    rtt: Quantity = "100 ms",
    rate: Quantity = "1500 kbit/s",
    packet_size: Quantity = "1500 B",
    buffer: Quantity = "50 segments",
    timeout: Quantity = "1 s",
    load: Literal["loss_window", "first_window"] = "loss_window",
    start: Literal["uniform", "smallest", "largest"] = "uniform",
    invasion: Quantity = 0.01,
    step: Quantity = 0.1,
    horizon: Quantity = 1000.0,
) -> Population:
    """Initial windows that survive at a shared bottleneck by replicator dynamics, and their costs.

    Aniemeka, Transmission Control Protocol's initial congestion window for web latency reduction, 2018, §3; Taylor
    & Jonker 1978.

    Parameters
    ----------
    windows
        The strategies: initial windows in segments, in ascending order; a list of numbers, or a text.
    flows
        Number of flows that share the bottleneck, n; a whole number.
    loss
        Probability of a packet loss from causes other than the load; 0 to 1, or a text in percent.
    mu
        Scale of the flow sizes in segments, μ; a number.
    theta
        Size of the largest flow in segments, θ; a whole number.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    rate
        Rate of the bottleneck; in bit/s, or a text.
    packet_size
        Packet size, headers included; in bytes, or a text.
    buffer
        Buffer of the bottleneck in packets; in packets, or a text.
    timeout
        Duration of a timeout after a loss, τ; in seconds, or a text.
    load
        Load of a flow per round trip: its mean window at the first loss, l, or its first window.
    start
        Initial shares: all equal, or nearly all with the smallest or largest window.
    invasion
        Share of the invaders in the test of stability; a number.
    step
        Time step; a number.
    horizon
        Longest time for which the shares evolve; a number.

    Returns
    -------
    Population
        ``mean_window``, ``commonest``, ``largest_share``, ``played``, ``stable``, ``margin``, ``drift``,
        ``mean_loss``, ``rounds``, ``time``, ``optimum_rounds``, ``optimum_window``, ``price_of_anarchy``: numbers,
        or arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "population",
        {
            "windows": windows,
            "flows": flows,
            "loss": loss,
            "mu": mu,
            "theta": theta,
            "rtt": rtt,
            "rate": rate,
            "packet_size": packet_size,
            "buffer": buffer,
            "timeout": timeout,
            "load": load,
            "start": start,
            "invasion": invasion,
            "step": step,
            "horizon": horizon,
        },
    )
    return Population(*outputs)


def population_trace(
    *,
    windows: Sequence[float] | str = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 48.0),
    flows: Quantity = 6,
    loss: Quantity = "0 %",
    mu: Quantity = 10.0,
    theta: Quantity = 100,
    rtt: Quantity = "100 ms",
    rate: Quantity = "1500 kbit/s",
    packet_size: Quantity = "1500 B",
    buffer: Quantity = "50 segments",
    timeout: Quantity = "1 s",
    load: Literal["loss_window", "first_window"] = "loss_window",
    start: Literal["uniform", "smallest", "largest"] = "uniform",
    invasion: Quantity = 0.01,
    step: Quantity = 0.1,
    horizon: Quantity = 1000.0,
) -> polars.DataFrame:
    """Give shares of `population` after every step, from the start to the horizon.

    Parameters
    ----------
    windows
        The strategies: initial windows in segments, in ascending order; a list of numbers, or a text.
    flows
        Number of flows that share the bottleneck, n; a whole number.
    loss
        Probability of a packet loss from causes other than the load; 0 to 1, or a text in percent.
    mu
        Scale of the flow sizes in segments, μ; a number.
    theta
        Size of the largest flow in segments, θ; a whole number.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    rate
        Rate of the bottleneck; in bit/s, or a text.
    packet_size
        Packet size, headers included; in bytes, or a text.
    buffer
        Buffer of the bottleneck in packets; in packets, or a text.
    timeout
        Duration of a timeout after a loss, τ; in seconds, or a text.
    load
        Load of a flow per round trip: its mean window at the first loss, l, or its first window.
    start
        Initial shares: all equal, or nearly all with the smallest or largest window.
    invasion
        Share of the invaders in the test of stability; a number.
    step
        Time step; a number.
    horizon
        Longest time for which the shares evolve; a number.

    Returns
    -------
    polars.DataFrame
        ``time``, time, in the model's units; ``mean_window``, mean initial window, in segments; ``mean_loss``, mean
        probability that a packet is lost; ``rounds``, mean cost: round trips until a flow is complete, in rounds;
        ``share_…`` for each of ``windows``, share of the window.

    Raises
    ------
    ValueError
        If a value is invalid.
    """
    return trace(
        "population",
        {
            "windows": windows,
            "flows": flows,
            "loss": loss,
            "mu": mu,
            "theta": theta,
            "rtt": rtt,
            "rate": rate,
            "packet_size": packet_size,
            "buffer": buffer,
            "timeout": timeout,
            "load": load,
            "start": start,
            "invasion": invasion,
            "step": step,
            "horizon": horizon,
        },
    )


class SlidingWindow(NamedTuple):
    """Outputs of `sliding_window`."""

    stop_and_wait: Values
    """Efficiency of stop-and-wait."""
    go_back_n: Values
    """Efficiency of Go-Back-N."""
    go_back_n_exact: Values
    """Exact efficiency of Go-Back-N, which uses slots after a loss."""
    selective_repeat: Values
    """Efficiency of selective repeat."""


def sliding_window(
    *,
    loss: Quantity = "1 %",
    a: Quantity = 10.0,
    window: Quantity = 7,
) -> SlidingWindow:
    """Efficiency of stop-and-wait, Go-Back-N and selective repeat.

    Tanenbaum & Wetherall, Computer networks, §3.4; Stallings, Data and computer communications.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    a
        One-way delay of the path, in frame times; a number.
    window
        Frames that may be unacknowledged; a whole number.

    Returns
    -------
    SlidingWindow
        ``stop_and_wait``, ``go_back_n``, ``go_back_n_exact``, ``selective_repeat``: numbers, or arrays of the
        common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "sliding_window",
        {
            "loss": loss,
            "a": a,
            "window": window,
        },
    )
    return SlidingWindow(*outputs)


def arq(
    *,
    loss: Quantity = "1 %",
    seed: Quantity = 1,
    scheme: Literal["stop_and_wait", "go_back_n", "selective_repeat"] | Sequence[str] = "selective_repeat",
    a: Quantity = 10.0,
    window: Quantity = 7,
    span: Literal["outstanding", "sequence"] | Sequence[str] = "outstanding",
    slots: Quantity = 100000,
    jobs: int | None = None,
) -> polars.DataFrame:
    """Stop-and-wait, Go-Back-N and selective repeat over a lossy channel, by simulation.

    Tanenbaum & Wetherall, Computer networks, §3.4.

    Every parameter takes one value or a list of values. All combinations are simulated, on all processors.

    Parameters
    ----------
    loss
        Probability that a packet is lost, or losses per packet; 0 to 1, or a text in percent.
    seed
        Seed of the run; a whole number.
    scheme
        Retransmission scheme.
    a
        One-way delay of the path, in frame times; 2a must be whole; a number.
    window
        Frames that may be unacknowledged; stop-and-wait has one; a whole number.
    span
        Limit of the window in selective repeat: number of unacknowledged frames, or range of their sequence
        numbers.
    slots
        Slots of the run; a whole number.
    jobs
        Threads; by default one per processor. Results do not depend on it.

    Returns
    -------
    polars.DataFrame
        A row for each combination: all parameters that are not None, and the outputs:
        ``efficiency``, share of slots with an accepted frame; ``taken``, frames accepted by the receiver, in
        frames; ``sent``, frames sent, including retransmissions, in frames; ``lost``, frames lost by the channel,
        in frames.

    Raises
    ------
    ValueError
        If a value is invalid.
    """
    return table(
        "arq",
        {
            "loss": loss,
            "seed": seed,
            "scheme": scheme,
            "a": a,
            "window": window,
            "span": span,
            "slots": slots,
        },
        jobs,
    )


class Growth(NamedTuple):
    """Outputs of `growth`."""

    window: Values
    """TCP/EXP, equation 6 with the constant of integration, in segments."""
    printed: Values
    """TCP/EXP, equation 6 as printed, without the constant, in segments."""
    binomial: Values
    """Binomial control, in segments."""


def growth(
    *,
    time: Quantity = "100 s",
    rtt: Quantity = "100 ms",
    start: Quantity = 2.0,
    alpha: Quantity = 1.0,
    k: Quantity = 0.23,
    increase: Quantity = 0.75,
    power: Quantity = 0.5,
) -> Growth:
    """Window over time without a loss: TCP/EXP (equation 6) and binomial control.

    Kalpana & Purusothaman, Performance evaluation of exponential TCP/IP congestion control algorithm, equation 6.

    Parameters
    ----------
    time
        Time since the start of growth; in seconds, or a text.
    rtt
        Round-trip time, queueing included; in seconds, or a text.
    start
        Window at time 0, in segments; a number.
    alpha
        Factor of TCP/EXP's growth; the paper prints no value; a number.
    k
        Exponent of TCP/EXP's growth; the paper prints no value; a number.
    increase
        Factor of binomial growth; SQRT's value; a number.
    power
        Exponent of binomial growth; SQRT's value; a number.

    Returns
    -------
    Growth
        ``window``, ``printed``, ``binomial``: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "growth",
        {
            "time": time,
            "rtt": rtt,
            "start": start,
            "alpha": alpha,
            "k": k,
            "increase": increase,
            "power": power,
        },
    )
    return Growth(*outputs)
