"""The benchmarks' own parts: what is compared is the same, and ratios are judged the right way."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tradingdata as td
from bench import bodies, day, publish
from bench.contest import Contest, Disagreement, Entry, Result, Source, disagreements, play
from bench.report import Goal, Row, Run, judge
from bench.servers import BOOK_PATH, ORDERS_PATH
from bench.suites import archive, compute, growth, session
from service import Service, as_json, book_reply, envelope, trades

pytestmark = pytest.mark.slow  # they prove nothing of the package
BENCH = Path(__file__).parent


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("name", ["walk_floor", "libcurl_floor"])
def test_the_floors_compile(name: str) -> None:
    """Only the benchmarks build them."""
    program, core = BENCH / f"floors/{name}.cpp", BENCH.parents[1] / "cpp/src"
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


def test_a_goal_without_our_figure_or_any_peer_fails() -> None:
    goal = Goal("", ("peer",), 2, 4, rests="a reason excuses no figure")
    assert row(goal, [], {"peer": [5.0]}, missing="AttributeError").verdict == "FAILED"
    alone = judge(goal, {"tradingdata": result("", [1.0]), "peer": result("", [], "ImportError")})
    assert math.isnan(alone.ratios[0])
    assert alone.verdict == "FAILED"


def test_a_goal_without_peers_is_in_milliseconds() -> None:
    goal = Goal("", (), 3, 2, faster=False)
    assert row(goal, [0.0025, 0.0035, 0.0025], {}).ratios == (2.5, 2.5, 3.5)
    assert row(goal, [0.0025, 0.0035, 0.0025], {}).shown == "gate?"
    on_half_as_fast = judge(goal, {"tradingdata": result("", [0.005, 0.007, 0.005])}, 2)
    assert on_half_as_fast.ratios == (2.5, 2.5, 3.5)
    assert on_half_as_fast.ours == "5.00 ms"


def test_a_missed_gate_that_rests_says_why_and_a_met_one_does_not() -> None:
    goal = Goal("", ("peer",), 2, 4, rests="the loop takes it")
    assert row(goal, [1.0], {"peer": [1.5]}).shown == "rests: the loop takes it"
    assert row(goal, [1.0], {"peer": [3.0]}).shown == "gate"


def test_a_missed_gate_rests_where_the_floor_takes_as_long() -> None:
    goal = Goal("", ("peer",), 2, 4, floor="floor")
    assert (
        row(goal, [1.0], {"peer": [1.5], "floor": [0.95]}).shown == "rests: floor takes 950.00 ms"
    )
    assert row(goal, [1.0], {"peer": [1.5], "floor": [0.8]}).shown == "MISSED"
    assert row(goal, [1.0], {"peer": [3.0], "floor": [0.95]}).shown == "gate"


def contest_of(make: Callable[[], Contest]) -> Run:
    run = Run(1, None, lambda table: None, "suite")
    run.play("name", make, Goal("what", ("peer",), 2, 4))
    return run


def test_a_contest_that_fails_is_named_and_costs_no_other() -> None:
    run = contest_of(lambda: Contest(str(1 // 0), ()))
    assert run.failures == ["suite name: ZeroDivisionError: integer division or modulo by zero"]
    assert [row.verdict for row in run.rows] == ["FAILED"]


def test_a_case_whose_process_ends_is_left_out(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(as_json(envelope(trades(3))))
    source = Source("Trade", str(body))
    entries = [Entry("ours", "records", "tradingdata", source)]
    entries.append(Entry("ends", "", "", source, (sys.executable, "-c", "raise SystemExit(7)")))
    results = play(Contest("", tuple(entries)), rounds=1)
    assert results["ends"].missing == "its process ended with 7"
    assert not results["ours"].missing
    assert len(results["ours"].times["shared_cpu"]) == 1


def test_growth_is_the_greatest_step_of_times_that_count() -> None:
    assert growth.worst({10: 0.01, 100: 0.1, 1000: 3.0}) == pytest.approx(3)
    assert growth.worst({10: 0.01, 100: 0.02, 1000: 0.1}) == pytest.approx(0.5)
    assert growth.worst({10: 1e-7, 100: 1e-4}) == 0  # too short to judge


def test_the_books_of_a_day_agree() -> None:
    bodies = [
        as_json(envelope(list(day.records(name, count, 3))))
        for name, count in (("Order", 40), ("Trade", 120))
    ]
    orders, fills = td.OrderBook.from_json(bodies[0]), td.TradeBook.from_json(bodies[1])
    assert td.reconcile(orders, fills).agrees
    assert not any((*orders.issues, *orders.check(), *fills.issues, *fills.check()))
    assert len(set(orders.column("symbol"))) == 40


def test_published_figures_replace_those_of_their_rows() -> None:
    rows = {"a call": ("suite/name", publish.against("peer", "slow"))}
    results = {"suite/name": {"tradingdata": result("tradingdata", [1.0])}}
    results["suite/name"] |= {"peer": result("peer", [3.0]), "slow": result("slow", [9.0])}
    line = "| a call | somebody | 9 times |"
    assert publish.line_of(line, rows, results) == "| a call | peer | 3.0 times faster |"
    assert publish.line_of(line, rows, {}) == line
    assert publish.line_of("| another | x |", rows, results) == "| another | x |"


def test_every_published_row_is_on_its_page() -> None:
    for page, rows in publish.PAGES.items():
        text = page.read_text("utf-8")
        assert [first for first in rows if f"\n| {first} | " not in text] == []


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


@pytest.mark.parametrize("name", compute.CONTESTS)
def test_a_calculation_and_its_peer_give_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "ORDERS", 20 * compute.ACCOUNTS)
    source = Source("Trade", str(bodies.book("Trade", 100)))
    facts = {}
    for case in (name, f"{name}:{compute.CONTESTS[name][1]}"):
        ready = compute.CASES[case](source)
        facts[case] = ready.check(ready.run())
    assert not disagreements(facts)


@pytest.mark.parametrize(
    "name", [name for name, each in growth.OPERATIONS.items() if not each.needs_service]
)
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_an_operation_whose_growth_is_measured_runs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "BODY", 100)
    monkeypatch.setattr(growth, "BODY_ORDERS", 20)
    growth.OPERATIONS[name].make(3 if growth.OPERATIONS[name].sizes == growth.THINGS else 100)()


@pytest.mark.parametrize("name", ["books", "calls", "poll", "call", "beyond the call"])
def test_what_a_session_does_with_books_runs(name: str) -> None:
    with Service() as service:
        for record, path in (("Order", ORDERS_PATH), ("Trade", BOOK_PATH)):
            response = book_reply(day.records(record, 20 if record == "Order" else 60, 3))
            service.script(response, then=response, path=f"/{path}")
        ready = session.CASES[name](Source("Trade", base_url=service.base_url))
        assert ready.check(ready.run()) == {"rows": 80 if name in ("books", "calls") else 20}
        ready.close()
