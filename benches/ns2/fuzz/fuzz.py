"""Compares the simulator with ns-2.35 on random networks, and prints the number of full agreements by class.

Needs `ns` (Debian package ns2). docs/concepts/host-ns2.md describes the random networks and the compared counters.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice
from pathlib import Path

from compare import Comparison, compare
from networks import KINDS, make


def job(numbered: int, seed: int, ns: str) -> Comparison:
    """Compare one network."""
    return compare(make(seed, numbered), ns)


def main() -> None:
    """Compare the requested networks, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=600, help="number of networks")
    parser.add_argument("--seed", type=int, default=1, help="seed of the networks")
    parser.add_argument("--first", type=int, default=0, help="number of the first network")
    parser.add_argument("--only", default="", help=f"only networks of classes with these words: {'; '.join(KINDS)}")
    parser.add_argument("--keep", type=Path, help="folder for networks that disagree, as NUMBER.toml and NUMBER.tcl")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel comparisons")
    options = parser.parse_args()
    ns = shutil.which("ns")
    if ns is None:
        sys.exit("ns-2 is not installed (Debian package ns2)")
    if not any(options.only in kind for kind in KINDS):
        sys.exit(f"--only {options.only}: no class has these words; known classes: {'; '.join(KINDS)}")
    wanted = ((number, make(options.seed, number).kind) for number in count(options.first))
    chosen = list(islice((pair for pair in wanted if options.only in pair[1]), options.count))
    agree: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        results = pool.map(partial(job, seed=options.seed, ns=ns), (number for number, _ in chosen))
        for (number, kind), found in zip(chosen, results, strict=True):
            total[kind] += 1
            if not found.differences:
                agree[kind] += 1
                continue
            print(f"{number} ({kind}) {found.first}; " + "; ".join(found.differences[:2]), flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{number}.toml").write_text(found.toml)
                (options.keep / f"{number}.tcl").write_text(found.tcl)
    for kind in KINDS:
        if total[kind]:
            print(f"{kind:32} {agree[kind]:5} of {total[kind]}")
    print(f"{'all':32} {agree.total():5} of {total.total()}")


if __name__ == "__main__":
    main()
