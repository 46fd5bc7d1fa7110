"""Errors of the command line: one message on stderr, and an exit code."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import NoReturn

BAD_INPUT = 2
INTERRUPTED = 130


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
