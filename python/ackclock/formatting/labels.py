"""Labels of a sweep as users write them: in full, or by the last part of their path."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def last_part(label: str) -> str:
    """Return the last part of a label, which is the path of a key.

    >>> last_part("topology.bottleneck.delay")
    'delay'
    """
    return label.rsplit(".", 1)[-1]


def suggestion(word: str, names: Iterable[str]) -> str:
    """Suggest the name nearest to a word; empty if none is near.

    >>> suggestion("avoidence", ["avoidance", "recovery"])
    "; did you mean 'avoidance'?"
    """
    close = difflib.get_close_matches(word, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def find(place: str, noun: str, word: str, names: Iterable[str]) -> str:
    """Find a name by all of it, or by its last part if only one name ends so.

    Parameters
    ----------
    place
        Where the word was written: the beginning of the message.
    noun
        What the names are, for the message.
    word
        The word to find.
    names
        The known names.

    Raises
    ------
    ValueError
        If no name or more than one matches.
    """
    known = list(dict.fromkeys(names))
    matching = [name for name in known if last_part(name) == word]
    if word in known:
        return word
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise ValueError(f"{place}: more than one {noun} ends in {word!r}: {', '.join(matching)}")
    hint = suggestion(word, [*known, *map(last_part, known)])
    raise ValueError(f"{place}: there is no {noun} {word!r}{hint} (known: {', '.join(known) or 'none'})")
