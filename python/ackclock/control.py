"""Congestion controls and slow starts written in Python."""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeGuard

from ackclock import _core
from ackclock._core import Exit
from ackclock.events import (
    Ack,
    CongestionEvent,
    Delivered,
    Established,
    FirstWindow,
    Idle,
    Lost,
    Sent,
    Window,
)

__all__ = ["CongestionControl", "SlowStart", "include"]


class CongestionControl:
    """A congestion control: a flow names a subclass of it.

    The simulator reads the attributes after every call. This base class implements Reno: slow start by one segment per
    ACK, congestion avoidance by one segment per round trip, and halving at congestion. A subclass overrides only what
    differs. Methods that do nothing here are called only if the subclass defines them when the control is made.

    Attributes
    ----------
    cwnd : float
        Congestion window in segments; the transport sends ``floor(cwnd)``. A window below 1 counts as 1, or after
        congestion as `CongestionEvent.least`. A negative, infinite or undefined window ends the run with a ValueError.
    ssthresh : float
        Slow start threshold in segments; infinite means none yet. A negative or undefined threshold ends the run with
        a ValueError.
    pacing_rate_bps : float or None
        Pacing rate of data and headers in bits per second, at least 1; None: the window alone limits sending.
    burst : float
        Bytes that may leave at once while the control paces; at least one segment counts.
    timer_s : float or None
        Time of the next call of `on_timer`, in seconds since the start of the run. The timer expires once.
    holds_back : bool
        Whether the control limits the window on purpose, so that rate samples do not show the rate of the path.
    owns_recovery : bool
        Whether window and pacing rate alone limit sending in loss recovery. Read once, when the control is made.
    owns_marks : bool
        Whether the control alone answers ECN marks: its response applies at once also on a host that would spread it
        over a round trip, unmarked data makes the window grow meanwhile, and a loss is reported even if a mark has just
        reduced the window. Read once, when the control is made.
    wants_samples : bool
        Whether a host of profile ns2 samples the delivery rate (`Ack.sample`) and keeps a snapshot of every segment
        (`Lost.packet`). A host of profile modern always does. Read once, when the control is made.
    wants_deliveries : bool
        Whether the host reports every delivered segment (`on_delivered`). Read once, when the control is made.
    wants_one_way_delay : bool
        Whether ACKs carry `Ack.one_way_delay_s`. Read once, when the control is made.
    ecn : {"ect0", "ect1", "not_ect"}
        ECN codepoint of data, if the flow uses ECN. Read once, when the control is made.
    states : mapping
        Names of states: for a quantity of `internals` those of its values 0, 1, …, as in
        ``{"phase": ["probe", "drain"]}``, for `ackclock.coverage`.
    paces_initial_window : bool
        Whether the initial window is spread over the first round trip. Read once, when the control is made.

    Examples
    --------
    >>> class Gentle(CongestionControl):
    ...     def on_congestion(self, event):
    ...         self.ssthresh = max(2.0, 0.8 * event.window)
    ...         self.cwnd = 1.0 if event.restart else self.ssthresh
    >>> flow = {"congestion_control": Gentle}
    """

    cwnd: float
    ssthresh: float
    pacing_rate_bps: float | None = None
    burst: float = 0
    timer_s: float | None = None
    holds_back: bool = False
    owns_recovery: bool = False
    owns_marks: bool = False
    wants_samples: bool = False
    wants_deliveries: bool = False
    wants_one_way_delay: bool = False
    paces_initial_window: bool = False
    ecn: Literal["ect0", "ect1", "not_ect"] = "ect0"
    states: ClassVar[Mapping[str, Sequence[str]]] = {}

    def __init__(self) -> None:
        self.cwnd = 1.0
        self.ssthresh = float("inf")

    def on_established(self, event: Established) -> None:
        """Set the initial window; called once."""

    def on_ack(self, ack: Ack) -> None:
        """Grow the window; called for every ACK at which it may grow.

        Parameters
        ----------
        ack
            The acknowledgement.
        """
        self.cwnd += ack.counted if self.cwnd < self.ssthresh else ack.counted / self.cwnd

    def on_ack_in_recovery(self, ack: Ack) -> None:
        """Observe an ACK at which the window may not grow: a duplicate, in loss recovery, or with an echoed mark.

        Parameters
        ----------
        ack
            The acknowledgement; its ``may_grow`` is false.
        """

    def on_congestion(self, event: CongestionEvent) -> None:
        """Set `ssthresh` and `cwnd`; called once in a recovery period.

        Parameters
        ----------
        event
            The sign of congestion.
        """
        self.ssthresh = max(2.0, event.window / 2)
        self.cwnd = 1.0 if event.restart else self.ssthresh

    def on_sent(self, sent: Sent) -> None:
        """Observe every segment sent."""

    def on_lost(self, lost: Lost) -> None:
        """Observe every segment deemed lost, before the congestion event or the ACK to which the loss belongs."""

    def on_delivered(self, delivered: Delivered) -> None:
        """Observe every segment that the next ACK delivers; called only if ``wants_deliveries`` is set.

        A host of profile modern reports exactly the bytes of `Ack.delivered`. With profile ns2, a duplicate ACK does
        not identify its segment, which is reported when it is acknowledged cumulatively.
        """

    def on_idle(self, idle: Idle) -> None:
        """Continue after an idle time, before its first segment; by default with at most the restart window.

        Parameters
        ----------
        idle
            When the idle time began, how long it lasted, and the restart window of RFC 5681 §4.1.
        """
        if idle.restart_window is not None:
            self.cwnd = min(self.cwnd, max(1.0, idle.restart_window))

    def on_recovery_end(self, now_s: float) -> None:
        """Leave recovery: all data outstanding at the congestion event have been acknowledged."""

    def on_spurious(self, now_s: float) -> None:
        """Undo the reduction of the last congestion event: all its losses were spurious."""

    def on_mss(self, smss: int) -> None:
        """Use `smss` as the bytes of a segment from now on."""

    def on_timer(self, now_s: float) -> None:
        """Act at the time `timer_s`; it is None again, and may be set to a later time."""

    def on_first_window(self, first: FirstWindow) -> float | None:  # noqa: ARG002 - for subclasses
        """Return the value of `Established.learned` for the next connection to the same peer, in segments, or None."""
        return None

    def internals(self) -> dict[str, float]:
        """Return the control's internal quantities by name, for the trace ``internals``."""
        return {}


class SlowStart:
    """A slow start: a flow names a subclass of it as ``slow_start``, together with built-in parts.

    The flow's control owns the window: `on_ack` returns the growth of the window, or the end of slow start. Every
    method receives the window before its decision. This base class implements standard slow start. Methods that do
    nothing here are called only if the subclass defines them when the slow start is made.

    Attributes
    ----------
    initial_ssthresh : float
        Upper bound of the first slow start threshold in segments. Read once, when the slow start is made.
    pacing_rate_bps, burst, timer_s, wants_samples, wants_one_way_delay, states
        As for `CongestionControl`; the first three apply during slow start.

    Examples
    --------
    >>> class Half(SlowStart):
    ...     def on_ack(self, ack, window):
    ...         return ack.counted / 2 if window.cwnd < 100 else Exit(window.cwnd)
    >>> flow = {"slow_start": Half, "avoidance": "cubic"}
    """

    initial_ssthresh: float = float("inf")
    states: ClassVar[Mapping[str, Sequence[str]]] = {}
    pacing_rate_bps: float | None = None
    burst: float = 0
    timer_s: float | None = None
    wants_samples: bool = False
    wants_one_way_delay: bool = False

    def on_established(self, event: Established, window: Window) -> None:
        """Observe the handshake; `window` is the initial window."""

    def on_ack(self, ack: Ack, window: Window) -> float | Exit:  # noqa: ARG002 - for subclasses
        """Decide at an ACK of new data in slow start.

        Parameters
        ----------
        ack
            The acknowledgement.
        window
            The window before the ACK.

        Returns
        -------
        float or Exit
            Growth of the window in segments, or ``Exit(ssthresh)``: slow start ends and the window is at most
            `ssthresh`. ``Exit(ssthresh, cwnd)`` sets both.
        """
        return ack.counted

    def observe(self, ack: Ack, window: Window) -> None:
        """Observe every ACK before `on_ack`, also in recovery and after slow start."""

    def on_sent(self, sent: Sent, window: Window) -> None:
        """Observe every segment sent."""

    def on_lost(self, lost: Lost, window: Window) -> None:
        """Observe every segment deemed lost."""

    def on_congestion(self, event: CongestionEvent, window: Window) -> None:
        """Observe congestion; the loss response reduces the window."""

    def on_restart(self) -> None:
        """Restart from one segment: a timer has expired that is no new sign of congestion."""

    def on_mss(self, smss: int) -> None:
        """Use `smss` as the bytes of a segment from now on."""

    def on_timer(self, now_s: float, window: Window) -> float | Exit:  # noqa: ARG002 - for subclasses
        """Decide, as at an ACK, at the time `timer_s`."""
        return 0.0

    def internals(self) -> dict[str, float]:
        """Return the slow start's internal quantities by name, for the trace ``internals``."""
        return {}


class Library(CongestionControl):
    """A control of a shared library, in C or any language with its calls; `named` makes a class for each.

    The library exports a structure of ``ackclock.h`` (`ackclock.include`). It is loaded in the process of a run, and
    stays loaded; a file that changes afterwards has no effect there.

    Attributes
    ----------
    file : str
        The library.
    symbol : str
        The name of the control in it.
    content : str
        SHA-256 of the file, which stored runs depend on.
    """

    file: str
    symbol: str
    content: str

    @classmethod
    def _address(cls) -> int:
        """Return the address of the structure in this process.

        Raises
        ------
        ValueError
            If the library cannot be loaded, or has no such control of this version.
        """
        place = f"{cls.file}:{cls.symbol}"
        try:
            loaded = ctypes.CDLL(cls.file)
            structure = ctypes.c_uint32.in_dll(loaded, f"ackclock_{cls.symbol}")
        except (OSError, ValueError) as error:
            raise ValueError(f"{place}: {error}") from None
        version, _ = _core.library_sizes()
        if structure.value != version:
            raise ValueError(
                f"{place}: is of version {structure.value} of ackclock.h, and not {version}; compile it again"
            )
        return ctypes.addressof(structure)


class ProgramControl(CongestionControl):
    """A program's client and server in place of a flow's ends; `linux.programs.contender` makes a class for each.

    They decide about everything that a flow does, so that a scenario names them like a control. Only a Linux kernel in
    virtual time can run them.

    Attributes
    ----------
    program : str
        The name of the program.
    content : str
        Its commands, which stored runs depend on.
    """

    program: str
    content: str

    def __init__(self, *_: object) -> None:
        raise ValueError(self.elsewhere())

    @classmethod
    def elsewhere(cls) -> str:
        """Say where it can run, for all other places."""
        return f"{cls.program} is a program, which runs only on a Linux kernel in virtual time: --on linux"


def is_program(made: object) -> TypeGuard[type[ProgramControl]]:
    """Whether what was given as a control is a program."""
    return isinstance(made, type) and issubclass(made, ProgramControl)


def programs(controls: Mapping[int, Any]) -> dict[int, type[ProgramControl]]:
    """Return the programs among a scenario's controls, by the index of their flow."""
    return {index: made for index, made in controls.items() if is_program(made)}


def include() -> str:
    """Return the folder with ``ackclock.h``, which a control in C includes.

    Examples
    --------
    >>> ackclock.include()   # doctest: +SKIP
    '/usr/lib/python3.12/site-packages/ackclock/data/include'
    """
    return str(Path(__file__).parent / "data" / "include")


LIBRARIES = (".so", ".dylib", ".dll")
"""How the names of shared libraries end."""
CLASS = re.compile(r"[\w./\\-]+:[A-Za-z_]\w*")


def is_import_path(text: str) -> bool:
    """Whether a text is the import path of a class, such as ``delay.py:Delay``."""
    return CLASS.fullmatch(text) is not None


def named(text: str) -> Any:  # noqa: ANN401 - a class of the user
    """Return the control or slow start of an import path: ``delay.py:Delay`` or ``package.module:Delay``.

    Parameters
    ----------
    text
        The name of a file, or of a module that Python finds, also in the working directory; then the class in it. Or
        the name of a shared library, and that of a control in it: ``gentle.so:gentle``.

    Raises
    ------
    ValueError
        If the file or the module cannot be imported, or has no such class.
    """
    place, _, name = text.rpartition(":")
    if place.endswith(LIBRARIES):
        return _of_library(Path(place), name)
    try:
        module = _of_file(Path(place)) if place.endswith(".py") else _of_module(place)
    except Exception as error:
        raise ValueError(f"{text}: cannot import {place}: {_why(error, place, name)}") from None
    made = getattr(module, name, None)
    if not (isinstance(made, type) and issubclass(made, (CongestionControl, SlowStart))):
        known = [each for each, value in vars(module).items() if _is_own(value, module.__name__)]
        said = f"; it has {', '.join(known)}" if known else ""
        raise ValueError(f"{text}: {place} has no control or slow start {name!r}{said}")
    return made


def _of_library(file: Path, name: str) -> type[Library]:
    """Return the class of a control in a shared library."""
    if not file.is_file():
        raise ValueError(f"{file}:{name}: there is no such file")
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    own = {"file": str(file.resolve()), "symbol": name, "content": content}
    made: type[Library] = type(name, (Library,), own)
    made._address()  # so that a wrong library is told before the first run
    return made


def _why(error: Exception, place: str, name: str) -> str:
    """Return why a file or module cannot be imported; a file alone belongs to no package."""
    said = f"{type(error).__name__}: {error}"
    if not (place.endswith(".py") and isinstance(error, ImportError) and "relative import" in str(error)):
        return said
    module = ".".join(Path(place).with_suffix("").parts[-2:])
    return f"it imports from its own package, to which a file alone does not belong; name its module: {module}:{name}"


def _of_file(file: Path) -> Any:  # noqa: ANN401 - a module
    """Import a file under its own name, so that it can import its neighbours, and workers know its classes."""
    if not file.is_file():
        raise FileNotFoundError("there is no such file")
    there = sys.modules.get(file.stem)
    if there is not None and Path(getattr(there, "__file__", None) or "").resolve() == file.resolve():
        return there
    if there is not None:
        raise ImportError(f"another module has the name {file.stem}; rename the file")
    spec = importlib.util.spec_from_file_location(file.stem, file.resolve())
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise
    finally:
        del sys.path[0]
    return module


def _of_module(name: str) -> Any:  # noqa: ANN401 - a module
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[0]


def _is_own(value: object, module: str) -> bool:
    return isinstance(value, type) and issubclass(value, (CongestionControl, SlowStart)) and value.__module__ == module
