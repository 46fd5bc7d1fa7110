"""Installs what the project and its development need into the virtual environment that runs this.

The project itself is installed by `maturin develop`, which builds its core. Arguments are passed on to pip.
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
