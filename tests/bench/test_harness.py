"""The benchmarks' own parts: what is compared is the same, and ratios are judged the right way."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.contest import Contest, Disagreement, Entry, Result, Source, disagreements, play
from bench.report import Goal, Row, judge
from bench.suites import archive
from service import as_json, envelope, trades

BENCH = Path(__file__).parent


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_the_decoder_alone_compiles() -> None:
    """Only the benchmarks build it."""
    program, core = BENCH / "floors/walk_floor.cpp", BENCH.parents[1] / "cpp/src"
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", f"-I{core}", program], check=True)


def result(label: str, cpu: list[float], missing: str = "") -> Result:
    times = {"cpu": cpu, "wall": cpu}
    return Result(Entry(label, "", "", Source("Trade")), times, missing=missing)


def row(goal: Goal, ours: list[float], peers: dict[str, list[float]], missing: str = "") -> Row:
    results = {label: result(label, cpu) for label, cpu in peers.items()}
    return judge(goal, results | {"tradingdata": result("tradingdata", ours, missing)})


def test_a_faster_goal_is_the_best_peer_over_ours() -> None:
    goal = Goal("", ("a", "b"), 2, 4)
    reached = row(goal, [1.0, 2.0, 1.0], {"a": [9.0, 9.0, 9.0], "b": [3.0, 3.0, 3.0]})
    assert reached.ratios == (3.0, 1.5, 3.0)
    assert reached.peer.startswith("b ")
    assert reached.verdict == "gate"


@pytest.mark.parametrize(("ours", "verdict"), [([1.0], "aim"), ([1.3], "gate"), ([2.0], "MISSED")])
def test_a_slower_goal_is_ours_over_the_floor(ours: list[float], verdict: str) -> None:
    goal = Goal("", ("floor",), 1.5, 1.2, faster=False)
    assert row(goal, ours, {"floor": [1.0]}).verdict == verdict


def test_an_aim_that_asks_to_be_past_another_entry_is_not_reached_behind_it() -> None:
    goal = Goal("", ("peer",), 3, 4, ahead_of="other")
    assert row(goal, [1.0], {"peer": [5.0], "other": [0.9]}).verdict == "gate"
    assert row(goal, [1.0], {"peer": [5.0], "other": [1.1]}).verdict == "aim"


def test_rounds_that_disagree_about_the_gate_make_the_verdict_unsure() -> None:
    goal = Goal("", ("peer",), 2, 9)
    assert row(goal, [1.0, 1.0, 1.0], {"peer": [3.0, 3.0, 2.5]}).shown == "gate"
    assert row(goal, [1.0, 1.0, 1.0], {"peer": [3.0, 3.0, 1.5]}).shown == "gate?"
    assert row(goal, [1.0, 1.0, 1.0], {"peer": [1.5, 1.5, 3.0]}).shown == "MISSED?"


def test_a_goal_without_our_figure_or_any_peer_is_missed() -> None:
    goal = Goal("", ("peer",), 2, 4)
    assert row(goal, [], {"peer": [5.0]}, missing="AttributeError").verdict == "MISSED"
    alone = judge(goal, {"tradingdata": result("", [1.0]), "peer": result("", [], "ImportError")})
    assert math.isnan(alone.ratios[0])
    assert alone.verdict == "MISSED"


def test_a_contest_measures_every_case_alone_and_shared(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(as_json(envelope(trades(10))))
    source = Source("Trade", str(body))
    entries = [Entry(name, "records", name, source) for name in ("tradingdata", "json dict")]
    absent = Entry("absent", "records", "absent", source)
    results = play(Contest("", (*entries, absent)), rounds=2)
    for name in ("tradingdata", "json dict"):
        measured = results[name].times
        assert measured.keys() == {"cpu", "wall", "shared_cpu", "shared_wall"}
        assert [len(one) for one in measured.values()] == [2, 2, 2, 2]
        assert all(time > 0 for one in measured.values() for time in one)
    assert results["json dict"].fact["untyped"]
    assert not results["tradingdata"].fact["untyped"]
    assert results["absent"].missing.startswith("KeyError")


def test_cases_with_different_results_are_not_compared(tmp_path: Path) -> None:
    entries = []
    for count in (3, 4):
        body = tmp_path / f"{count}.json"
        body.write_bytes(as_json(envelope(trades(count))))
        source = Source("Trade", str(body))
        entries.append(Entry(str(count), "records", "json dict", source))
    with pytest.raises(Disagreement, match="rows: 3 3, 4 4"):
        play(Contest("", tuple(entries)), rounds=1)


@pytest.mark.parametrize("name", archive.CONTESTS)
def test_an_archive_and_its_peer_give_the_same(name: str, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(as_json(envelope(trades(5 * archive.POLLS))))
    _, label, _ = archive.CONTESTS[name]
    facts = {}
    for case in (name, f"{name}:{label}"):
        ready = archive.CASES[case](Source("Trade", str(body)))
        facts[case] = ready.check(ready.run())
        ready.close()
    assert facts[name]["rows"]
    assert not disagreements(facts)
