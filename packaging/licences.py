"""Checks the licences of what Ackclock is built from or requires: a new dependency with another licence fails.

    python packaging/licences.py [--required]

Crates are checked by cargo-deny (`deny.toml`), also for known vulnerabilities; what the wheel requires, with its
extras, by pip-licenses (`[tool.pip-licenses]` in `pyproject.toml`); packages of the pages by their lock file. A check
that lacks a tool or a network is skipped, with the reason; `--required` makes that an error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
# Extras that a user of the wheel has no use for.
OWN = ("dev", "page", "licences")
# Licences of the packages in web/package-lock.json, and those of tools, of which no page contains anything.
PAGES = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT OR Apache-2.0", "PSF-2.0", "Python-2.0"}
TOOLS = {"axe-core": "MPL-2.0"}


def deny() -> str | None:
    """Return the program cargo-deny: that of this environment, or an installed one."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which("cargo-deny", path=programs)


def crates() -> tuple[list[str], str]:
    """Return what is wrong with the crates, and what could not be checked."""
    if not (program := deny()):
        return [], "crates, which cargo-deny checks (cargo install cargo-deny --locked)"
    # The vulnerabilities are asked for apart, because their list comes from a network.
    command = [program, "--locked", "--all-features", "check", "--hide-inclusion-graph"]
    done = _run([*command, "licenses", "bans", "sources"])
    wrong = [] if done.returncode == 0 else [done.stderr.strip()]
    done = _run([*command, "advisories"])
    if "failed to fetch advisory database" in done.stderr:
        return wrong, "known vulnerabilities of crates, whose list comes from GitHub, which cannot be reached"
    return wrong + ([] if done.returncode == 0 else [done.stderr.strip()]), ""


def requirements() -> tuple[list[str], str]:
    """Return what is wrong with the Python packages that the wheel requires, and what could not be checked."""
    try:
        names = sorted({found.name for found in required()})
        metadata.distribution("pip-licenses")
    except (ImportError, metadata.PackageNotFoundError):
        return [], "Python packages, which pip-licenses checks (pip install pip-licenses packaging)"
    done = _run([sys.executable, "-m", "piplicenses", "--packages", *names])
    return ([] if done.returncode == 0 else [done.stderr.strip()]), ""


def required() -> Iterator[metadata.Distribution]:
    """Yield the installed packages that the wheel requires, with its extras, and those that they require in turn."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    texts = [*project["dependencies"], *(text for name in extras.keys() - {*OWN} for text in extras[name])]
    # An extra may name others of the package itself.
    waiting = [(text, "") for text in texts if Requirement(text).name != project["name"]]
    seen = set()
    while waiting:
        text, extra = asked = waiting.pop()
        requirement = Requirement(text)
        if asked in seen or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        seen.add(asked)
        # What is missing is for other systems, or was left out.
        with contextlib.suppress(metadata.PackageNotFoundError):
            found = metadata.distribution(requirement.name)
            yield found
            waiting += [(text, extra) for text in found.requires or [] for extra in ("", *requirement.extras)]


def pages(lock: Path = ROOT / "web" / "package-lock.json") -> list[str]:
    """Return the packages of a lock file whose licence is another."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    found = [
        (path.rpartition("node_modules/")[2], about.get("license", "no licence")) for path, about in packages.items()
    ]
    return [
        f"{lock.name}: {name} has the licence {licence}, which {Path(__file__).name} does not list"
        for name, licence in found
        if licence not in PAGES and TOOLS.get(name) != licence
    ]


def _run(command: Iterable[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command], cwd=ROOT, capture_output=True, text=True, check=False)


def main() -> int:
    """Check everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--required", action="store_true", help="fail if something cannot be checked")
    options = parser.parse_args()
    done = [crates(), requirements(), (pages(), "")]
    wrong = [text for found, _ in done for text in found]
    skipped = [text for _, text in done if text]
    for text in skipped:
        print(f"skipped: the check of {text}", file=sys.stderr)
    for text in wrong:
        print(f"error: {text}", file=sys.stderr)
    return 1 if wrong or (skipped and options.required) else 0


if __name__ == "__main__":
    sys.exit(main())
