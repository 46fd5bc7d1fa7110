"""`ackclock compare` on a table of paths: columns and their spellings, names, durations, hosts, and no harm."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import ackclock
from ackclock.comparisons import conditions, planning, tables
from ackclock.comparisons.contenders import resolve
from ackclock.comparisons.places import NetworkPath, Place, find
from ackclock.freeze import Frozen

from .conftest import Cli

HOMES = "rate_mbps,RTT (ms),buffer_bdp,loss\n10,20,1,0 %\n50,40,1,0 %\n200,15,1,0 %\n"


def place(folder: Path, text: str) -> Place:
    (folder / "p.csv").write_text(text)
    (found,) = find([str(folder / "p.csv")])
    return found


def link(path: NetworkPath) -> dict[str, object]:
    """Return the bottleneck of a path."""
    made = path.compose(resolve("reno"), 1, {})
    links = Frozen(made).document["topology"]["link"]
    return next(each for each in links if f"{each['from']}>{each['to']}" == made.bottleneck)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("rate,rtt,buffer", "10 Mbit/s,40 ms,30 packets"),
        ("rate_mbps,rtt_ms,buffer_packets", "10,40,30"),
        ("Rate (Mbit/s),RTT (ms),Buffer (packets)", "10,40,30"),
        ("bandwidth [Mbps],base_rtt [s],queue", "10,0.04,30 packets"),
        ("rate_bps,one_way_delay_ms,queue_limit_pkts", "10000000,20,30"),
        ("capacity_kbit,min_rtt_us,buffer_packets", "10000,40000,30"),
        (
            "topology.bottleneck.rate (Mbit/s),topology.bottleneck.delay (ms),topology.bottleneck.queue.limit",
            "10,20,30 packets",
        ),
    ],
)
def test_spellings_of_columns(header: str, row: str, tmp_path: Path) -> None:
    (path,) = place(tmp_path, f"{header}\n{row}\n").paths
    found = link(path)
    assert (found["rate"], found["delay"]) == ("10 Mbit/s", "20 ms")
    assert found["queue"] == {"kind": "droptail", "limit": "30 packets"}


def test_parquet_with_numbers(tmp_path: Path) -> None:
    polars.DataFrame({"rate_mbps": [10.0, 50.0], "rtt_ms": [40, 41]}).write_parquet(tmp_path / "p.parquet")
    (found,) = find([str(tmp_path / "p.parquet")])
    assert [link(path)["delay"] for path in found.paths] == ["20 ms", "20500 us"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rat,rtt_ms\n1,2\n", r'column "rat": expected rate, rtt or delay, buffer, loss and label, each with its unit'),
        ("rate_mbps,rtt_parsec\n1,2\n", r"column \"rtt_parsec\": 'parsec' is no unit of rtt \(known: s, ms, us\)"),
        ("rate_mbps,rtt_ms,delay\n1,2,1 ms\n", r'the columns "rtt_ms" and "delay" mean the same; leave out one'),
        ("rate_mbps,rtt_ms\nten,2\n", r'row 1, column "rate_mbps": must be a number'),
        ("rate_mbps,rtt_ms\n1,x\n", r'row 1, column "rtt_ms": must be a number'),
        ("rate_mbps,rtt_ms\n1,2\n2,\n", r'row 2, column "rtt_ms": is empty'),
        ("rate,rtt_ms\n1,2\n", r'column "rate": .*unit'),
    ],
)
def test_a_wrong_table_is_named_as_it_is_written(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        place(tmp_path, text)


def test_names_leave_out_what_is_the_same_on_all_paths(tmp_path: Path) -> None:
    assert [path.name for path in place(tmp_path, HOMES).paths] == [
        "10 Mbit/s, RTT 20 ms",
        "50 Mbit/s, RTT 40 ms",
        "200 Mbit/s, RTT 15 ms",
    ]
    (only,) = place(tmp_path, "rate_mbps,rtt_ms\n10,20\n").paths
    assert only.name == "10 Mbit/s, RTT 20 ms"
    named = place(tmp_path, "name,rate_mbps,rtt_ms\nDSL,10,20\ncable,50,20\n").paths
    assert [path.name for path in named] == ["DSL", "cable"]


def test_constant_keys_of_a_sweep_are_no_part_of_a_name(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        'duration = "1 s"\n[flow]\n[sweep]\n"topology.bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s"]\n'
        '"topology.bottleneck.delay" = ["10 ms"]\n'
    )
    (found,) = find([str(file)])
    assert [path.name for path in found.paths] == ["1 Mbit/s", "2 Mbit/s"]


def test_rows_with_equal_values_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("rate_mbps,rtt_ms\n10,20\n10,20\n5,20\n")
    columns, headers = tables.columns(tmp_path / "p.csv")
    assert columns[0][:2] == ("label", "10 Mbit/s #110 Mbit/s #25 Mbit/s")
    assert headers == {"topology.bottleneck.rate": "rate_mbps", "topology.bottleneck.delay": "rtt_ms"}


def plan(folder: Path, *contenders: str, **options: object) -> planning.Plan:
    (folder / "p.csv").write_text(HOMES)
    usual = {"reference": None, "seeds": None, "within": None, "size": "10 MB", "duration": None}
    return planning.planned(contenders, [str(folder / "p.csv")], **{**usual, **options})  # type: ignore[arg-type]


def test_a_transfer_without_a_duration_lasts_as_long_as_it_needs(tmp_path: Path) -> None:
    made = plan(tmp_path, "cubic", "reno")
    (at,) = made.places
    runs = [made.runs(unit) for unit in made.units(at, 1, 2)]
    alone = [each.alone[0].scenario.duration for each in runs]
    # A second for the start, 60 round trips, and eight times the time at the full rate, rounded up.
    assert alone == [67.0, 17.0, 6.0]
    assert [each.solo[0].scenario.duration for each in runs] == [planning.PATIENCE * time for time in alone]
    given = plan(tmp_path, "cubic", "reno", duration="7 s")
    assert given.runs(given.units(at, 1, 2)[0]).solo[0].scenario.duration == 7.0
    lasting = plan(tmp_path, "cubic", "reno", size=None)
    assert lasting.runs(lasting.units(at, 1, 2)[0]).alone[0].scenario.duration == 20.0


def test_without_harm_only_the_traffic_of_the_paths_runs(tmp_path: Path) -> None:
    whole, part = plan(tmp_path, "cubic", "reno"), plan(tmp_path, "cubic", "reno", harm=False)
    unit = whole.units(whole.places[0], 1, 2)[0]
    assert (len(list(whole.runs(unit))), len(list(part.runs(unit)))) == (6, 2)
    assert [point.key for point in part.runs(unit).solo] == [point.key for point in whole.runs(unit).solo]


def test_the_answer_without_harm_does_not_speak_of_it(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "p.csv").write_text(HOMES)
    done = cli(*["compare", "cubic", "reno", "--paths", "p.csv", "--size"], "200 kB", "--no-harm", "--out", "o")
    assert done.returncode == 0, done.stderr
    assert "6 runs in" in done.stderr
    assert "Harm to cubic was not measured" in done.stdout
    assert "harm:" not in done.stdout
    table = polars.read_parquet(tmp_path / "o" / "comparison.parquet")
    assert table["harm_goodput"].null_count() == table.height
    assert cli("report", "o", "--force").returncode == 0
    with_harm = cli(*["compare", "cubic", "reno", "--paths", "p.csv", "--size"], "200 kB", "--out", "o")
    assert "12 runs in" in with_harm.stderr, "the runs without harm are reused"
    assert "6 were stored" in with_harm.stderr


def test_python_has_the_option(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(HOMES)
    found = ackclock.compare("cubic", "reno", paths=tmp_path / "p.csv", size="100 kB", harm=False)
    assert "was not measured" in found.answer[0]


def test_the_header_names_hosts_windows_packets_and_access_links(tmp_path: Path, cli: Cli) -> None:
    assert conditions.conditions(plan(tmp_path, "cubic", "reno", "linux+bbr")) == [
        "cubic, reno: profile ns2, initial window ns2_table, packets of 1000 B",
        "linux+bbr: host linux, initial window of the control, packets of 1000 B",
        "access links: 10 Gbit/s with 0 s",
    ]
    several = planning.planned(
        ["cubic", "reno"], ["clean", "lossy"],
        reference=None, seeds=1, within=None, size=None, duration=None,
    )  # fmt: skip
    assert "access links: those of each path" in conditions.conditions(several)
    done = cli(*["compare", "cubic", "linux+cubic", "--paths", "p.csv", "--no-harm", "--size"], "100 kB")
    assert "cubic: profile ns2, initial window ns2_table, packets of 1000 B" in done.stderr
    assert "warning: cubic without a host runs with the profile ns2 of the path" in done.stderr
    assert "write linux+cubic" in done.stderr


def test_hosts_that_all_contenders_name_need_no_warning(tmp_path: Path) -> None:
    assert conditions.mixed(plan(tmp_path, "cubic", "reno")) == ""
    assert conditions.mixed(plan(tmp_path, "linux+cubic", "linux+reno")) == ""
    assert "linux+cubic on the host linux" in conditions.mixed(plan(tmp_path, "cubic", "linux+cubic"))


def test_equal_rows_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "homes.csv"
    file.write_text("label,rate_mbps,rtt_ms,buffer\na,4,70,1 BDP\nb,4,70,1 BDP\nc,5,70,1 BDP\n")
    plan = planning.planned(
        ["standard", "limited"], [str(file)],
        reference=None, seeds=None, within=None, size=None, duration=None,
    )  # fmt: skip
    said = "homes: 1 of 3 rows left out, which equals others but for names and seeds"
    assert conditions.conditions(plan)[-1] == said


def test_messages_name_the_table_as_the_user_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("homes.csv").write_text("rate_mbps,rtt,buffer\n4,x ms,1 BDP\n")
    with pytest.raises(ackclock.ScenarioError, match=r'^homes\.csv: row 1, column "rtt": '):
        find(["homes.csv"])
