"""Results of full runs in the repository: their form, and that each README says the same."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import polars
import pytest

from ackclock.literature import library
from ackclock.literature.claims import parse_claims
from ackclock.literature.contents import Cause
from ackclock.literature.plan import plan_paper

from .conftest import ROOT

SPEC = importlib.util.spec_from_file_location("paperresults", ROOT / "docs" / "paperresults.py")
assert SPEC is not None and SPEC.loader is not None
paperresults = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(paperresults)

NAMES = sorted(file.parent.name for file in (ROOT / "papers").glob("*/paper.toml"))
STORED = {
    "runs": 2000,
    "sentences": [
        {"sentence": "a", "outcome": "reproduced", "measured": "RBT over SSCCM: 1.26 [1.25, 1.27], above 1"},
        {"sentence": "b", "outcome": "reversed", "measured": "−5.1 % [−6, −4]"},
        {"sentence": "c", "outcome": "reproduced", "ours": True, "measured": "2,000"},
    ],
    "tables": {"gain": [["p", "RBT"], ["1 %", "1.08"]]},
}
MADE = {
    "commit": "c0ffee",
    "date": "2026-01-01",
    "command": "ackclock paper p",
    "machine": {},
    "versions": {},
    "core": 1,
}
MANIFEST = {"kind": "paper", "paper": "p", "quick": False, "runs": 9, "hash": "abc", "state": "complete", "made": MADE}


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_says_what_the_full_run_found(name: str) -> None:
    file = ROOT / "papers" / name / "results.json"
    if not file.exists():
        pytest.skip(f"no full run of {name} is stored: docs/paperresults.py writes {file.relative_to(ROOT)}")
    stored = json.loads(file.read_text())
    assert not list(paperresults.wrong(library.find(name).notes, stored))
    assert file.stat().st_size <= paperresults.MOST
    assert stored["paper"] == name
    ids = {claim["id"] for claim in library.find(name).claims["claim"]}
    assert {each["sentence"] for each in stored["sentences"]} <= ids, "the claims have changed since the full run"
    plan = plan_paper(library.find(name), quick=True)
    causes = plan.paper.contents.answer.causes if plan.paper.contents.answer else ()
    assert not list(paperresults.unexplained(plan.paper.notes, stored, plan.claims, causes)), "neither cause nor reason"
    queries = file.with_name(paperresults.QUERIES)
    names = [name for name, _ in paperresults.QUERY.findall(queries.read_text())] if queries.exists() else []
    assert list(stored["tables"]) == names
    assert {name for _, name, _ in paperresults.TABLE.findall(library.find(name).notes)} == set(names)


@pytest.mark.parametrize(
    ("readme", "found"),
    [
        (
            "Of 2 sentences, 1 is reproduced and\n1 is reversed. [1.26](results.json#a), [−5.1 %](results.json#b).",
            0,
        ),
        ("Of 2 sentences, each in its main reading, 1 is reproduced and 1 is reversed; 2 in some reading.", 0),
        ("It loses [-5.1 %](results.json#b).\n\n    ackclock paper p    2,000 runs, and figures\n", 0),
        ("    ackclock paper p    2,001 runs\n", 1),
        ("Of 3 sentences, 1 is reproduced and 1 is reversed.", 1),
        ("Of 2 sentences, 2 are reproduced.", 1),
        ("It gains [1.2](results.json#a), [26](results.json#a) and [1.26](results.json#d).", 3),
        ("Beyond the paper: [2,000](results.json#c), not [000](results.json#c).", 1),
        ("[table gain]: #\n\n| p | RBT |\n|---|---|\n| 1 % | 1.08 |\n\nIt gains.\n", 0),
        ("[table gain]: #\n\n| p | RBT |\n|---|---|\n| 1 % | 1.09 |\n", 1),
        ("[table loss]: #\n\n| p | RBT |\n|---|---|\n| 1 % | 1.08 |\n", 1),
    ],
)
def test_a_number_that_is_not_in_the_results_is_found(readme: str, found: int) -> None:
    assert len(list(paperresults.wrong(readme, STORED))) == found


def test_a_failed_sentence_has_an_experiment_or_a_reason_in_the_readme() -> None:
    entries = [
        {"id": "a", "text": "it leads", "source": "§1"},
        {"id": "a-2", "reading": "in packets"},
        {"id": "b", "text": "it\nis fair", "source": "§2"},
        {"id": "c", "text": "ours", "source": "not in the paper", "ours": True},
    ]
    same = {"kind": "bound", "axis": "loss", "where": {}, "of": "1 %", "low": 1.0, "metrics": ["goodput_bps"]}
    claims = parse_claims({"claim": [{**same, **entry} for entry in entries]}, {"loss": ["1 %"]}, ["goodput_bps"])
    stored = {"sentences": [{"sentence": name, "outcome": "reversed"} for name in "ab"]}
    stored["sentences"] += [{"sentence": "c", "outcome": "reversed", "ours": True}]

    def found(readme: str, *causes: Cause) -> list[str]:
        return list(paperresults.unexplained(readme, stored, claims, causes))

    assert found("") == ["a: reversed", "b: reversed"]
    assert found("", Cause("why", ("a-2",), "c", "c")) == ["b: reversed"], "any claim of the sentence will do"
    assert found("", Cause("why", ("a", "b"))) == ["a: reversed", "b: reversed"], "a text is no experiment"
    heading = paperresults.UNEXPLAINED
    assert found(f"# P\n\n{heading}\n\n- `a`: lost.\n\n## Next\n\n`b`") == ["b: reversed"]


def test_tables_are_computed_from_the_runs_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / paperresults.QUERIES).write_text(
        "CREATE VIEW best AS SELECT p, max(gain) AS gain FROM runs GROUP BY p;\n\n"
        "-- gain\nSELECT p, printf('%.2f', gain) AS \"RBT-1\" FROM best ORDER BY p\n"
        "-- none\nSELECT verdict AS a, -2 AS b FROM verdicts UNION ALL SELECT NULL, 1\n"
    )
    monkeypatch.setattr(paperresults, "PAPERS", tmp_path)
    verdict = {"claim": {"id": "a"}, "metric": "gain", "verdict": "holds", "reason": "gain is 2"}
    (tmp_path / "verdicts.json").write_text(json.dumps([verdict]))
    polars.DataFrame({"p": ["2 %", "1 %"], "gain": [1.5, -0.123]}).write_parquet(tmp_path / "runs.parquet")
    made = json.loads(paperresults.results(folder(tmp_path)))
    assert made["tables"] == {
        "gain": [["p", "RBT-1"], ["1 %", "−0.12"], ["2 %", "1.50"]],
        "none": [["a", "b"], ["holds", "−2"], ["–", "1"]],
    }
    readme = "Before.\n\n[table gain]: #\n\n| old |\n|---|\n\nAfter, and [table none]: #.\n"
    table = "| p | RBT-1 |\n|---|---|\n| 1 % | −0.12 |\n| 2 % | 1.50 |\n"
    assert paperresults.written(readme, made) == readme.replace("| old |\n|---|\n", table)


def sentence(**changes: Any) -> dict[str, Any]:
    parts = [
        {"outcome": "reproduced", "measured": "2 times"},
        {"outcome": "reversed", "measured": "0.5 times (at most 2) in 2 of 9 (loss 1 %; loss 2 %)"},
    ]
    readings = [
        {"reading": "main reading", "outcome": "reversed", "parts_that_hold": 1, "parts": parts},
        {"reading": "packets", "outcome": "cannot tell", "parts_that_hold": 0, "parts": parts[:1]},
    ]
    return {
        "sentence": "a",
        "text": "t",
        "source": "§1",
        "outcome": "reversed",
        "ours": False,
        "readings": readings,
    } | changes


def folder(place: Path, **changes: Any) -> Path:
    (place / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
    (place / "sentences.json").write_text(json.dumps([sentence(), sentence(sentence="b", ours=True)]))
    return place


def test_a_sentence_is_one_line_with_the_number_that_decides(tmp_path: Path) -> None:
    text = paperresults.results(folder(tmp_path))
    assert text.count("\n") == 6
    found = json.loads(text)
    assert (found["commit"], found["runs"], found["hash"]) == ("c0ffee", 9, "abc")
    assert found["sentences"][0] == {
        "sentence": "a", "source": "§1", "outcome": "reversed", "held": "1 of 2",
        "others": {"packets": "cannot tell"}, "measured": "0.5 times (at most 2) in 2 of 9",
    }  # fmt: skip
    assert found["sentences"][1]["ours"] is True


@pytest.mark.parametrize("changes", [{"quick": True}, {"state": "interrupted"}, {"kind": "run"}])
def test_only_a_complete_full_run_is_kept(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has no complete full run of a paper"):
        paperresults.results(folder(tmp_path, **changes))


def test_a_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paperresults, "MOST", 100)
    with pytest.raises(ValueError, match="100 are allowed"):
        paperresults.results(folder(tmp_path))
