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
requirements = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
sys.exit(subprocess.run([*pip, *sys.argv[1:], *requirements]).returncode)
