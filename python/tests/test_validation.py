"""The host `linux` predicts the kernel: every measured scenario is replayed and compared."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from .conftest import ROOT


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validation", ROOT / "docs" / "validation.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["validation"] = module
    spec.loader.exec_module(module)
    return module


VALIDATION = _module()
REFERENCES = VALIDATION.references()


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_prediction_of(reference: VALIDATION.Reference) -> None:  # type: ignore[name-defined]
    compared = list(VALIDATION.compare(reference))
    assert compared, "a scenario without any measure checks nothing"
    for comparison in compared:
        place = (reference.name, comparison.flow, comparison.measure.name)
        known = place in VALIDATION.KNOWN
        found = f"{place}: kernel {comparison.kernel}, simulated {comparison.simulated}"
        assert comparison.within != known, f"{found}; {'now within: remove it from KNOWN' if known else 'too far'}"
