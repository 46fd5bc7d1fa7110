"""Errors of the command line: one message on stderr, and an exit code."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

BAD_INPUT = 2
INTERRUPTED = 130
_HEARD = threading.Event()
"""Whether the user has pressed Ctrl-C."""


def hear_interrupts() -> None:
    """Remember Ctrl-C: a compiled library that it meets can swallow the exception, and fail with another."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _heard)
        if sys.unraisablehook is sys.__unraisablehook__:
            sys.unraisablehook = _unraisable


def _heard(number: int, frame: FrameType | None) -> None:
    _HEARD.set()
    signal.default_int_handler(number, frame)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """Show an exception that a library could not raise, unless it is Ctrl-C, which the end of the program tells."""
    if not issubclass(what.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(what)


def fail(message: str, code: int) -> NoReturn:
    """Print a message and exit."""
    from ackclock.cli.output import error

    error(message)
    raise SystemExit(code)


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Print what the package logs, and turn errors that the user can mend into one message and an exit code."""
    from ackclock.cli.output import Handler

    handler, log = Handler(), logging.getLogger("ackclock")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        with _interrupted():
            yield
    except KeyboardInterrupt as error:
        fail(str(error) or "interrupted", INTERRUPTED)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            raise  # the error of a stream: files have names
        text = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        fail(text, BAD_INPUT)
    except ValueError as error:
        fail(str(error), BAD_INPUT)
    except MemoryError:
        fail("there is not enough memory for this", BAD_INPUT)
    except KeyError as error:
        fail(str(error.args[0]) if error.args else str(error), BAD_INPUT)
    finally:
        log.removeHandler(handler)
        log.propagate = True


@contextlib.contextmanager
def _interrupted() -> Iterator[None]:
    """Raise KeyboardInterrupt in place of an error that Ctrl-C has caused."""
    try:
        yield
    except Exception:
        if _HEARD.is_set():
            raise KeyboardInterrupt from None
        raise
