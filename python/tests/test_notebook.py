"""The notebook of the guide runs from top to bottom, and its outputs are cards and the live plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ackclock.files.built import PAGE

from .conftest import ROOT

NOTEBOOK = ROOT / "docs" / "guides" / "notebook.ipynb"
nbformat = pytest.importorskip("nbformat", reason="the notebook needs Jupyter: pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="the notebook needs Jupyter: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="the notebook needs Jupyter: pip install nbclient ipykernel")
pytest.importorskip("anywidget", reason="the notebook needs the live plot: pip install 'ackclock[notebook]'")

WIDGET = "application/vnd.jupyter.widget-view+json"


def test_it_is_stored_without_outputs() -> None:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def output(cell: Any) -> Any:
    """Return the data of a cell's value."""
    (found,) = [each for each in cell.outputs if each.output_type == "execute_result"]
    return found.data


@pytest.mark.skipif(not (PAGE / "widget.js").is_file(), reason="the page was not built: make page")
@pytest.mark.filterwarnings("ignore")  # of Jupyter
def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    book = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not [each for cell in cells for each in cell.outputs if each.output_type in ("error", "stream")]
    scenario, result, sweep, table, comparison, live, after = [output(cell) for cell in cells[1:]]
    for data, kind in ((scenario, "Scenario"), (result, "Result"), (sweep, "Dataset"), (comparison, "Comparison")):
        assert f'<span class="kind">{kind}</span>' in data["text/html"]
        assert "<script" not in data["text/html"]
    assert "two flows" in scenario["text/html"] and "cwnd (segments)" in result["text/html"]
    assert "12 of 12 runs" in sweep["text/html"]
    assert table["text/html"].count("<tr>") >= 4
    state = client.widget_state[live[WIDGET]["model_id"]]
    assert state["text"].startswith('name = "two flows"')
    assert "<script" not in after["text/html"] and "round-trip time (ms)" in after["text/html"]
