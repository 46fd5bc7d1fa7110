"""Ctrl-C that a library swallows."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from ackclock.cli import errors


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    errors.hear_interrupts()
    yield
    errors._HEARD.clear()
    signal.signal(signal.SIGINT, before)


def library() -> None:
    """Fail with an error of its own, as a compiled library does that Ctrl-C meets."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ValueError("not a data type") from None


def test_an_error_that_ctrl_c_has_caused_is_an_interruption(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, errors.plain_errors():
        library()
    assert ended.value.code == errors.INTERRUPTED
    assert capsys.readouterr().err == "error: interrupted\n"


def test_other_errors_stay(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, errors.plain_errors():
        raise ValueError("no such file")
    assert (ended.value.code, capsys.readouterr().err) == (2, "error: no such file\n")
