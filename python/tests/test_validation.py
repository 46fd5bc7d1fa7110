"""The host `linux` predicts the kernel: every measured scenario is replayed and compared."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

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
KNOWN = VALIDATION.known_outside()


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_prediction_of(reference: Any) -> None:
    compared = list(VALIDATION.compare(reference))
    assert compared, "a scenario without any measure checks nothing"
    for each in compared:
        found = f"{each.place}: kernel {each.kernel}, simulated {each.simulated}"
        hint = "now within the tolerance" if each.within else "outside the tolerance"
        assert each.within != (each.place in KNOWN), (
            f"{found}: {hint}; docs/validation.py --accept writes what is known"
        )


def test_known_differences_are_few() -> None:
    count = sum(1 for reference in REFERENCES for _ in VALIDATION.compare(reference))
    assert len(KNOWN) < 0.15 * count
