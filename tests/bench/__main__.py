"""Runs benchmark suites and prints what they show: `python tests/bench --help`."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

if __package__ in (None, ""):  # run as a folder: the package is what is in it
    tests = Path(__file__).parents[1]
    sys.path[:1] = [str(tests), str(tests / "support")]

from bench.harness import report
from bench.harness.goals import Row
from bench.harness.suite import Run

SUITES = {
    "decode": "bench.suites.decode",
    "rows": "bench.suites.rows",
    "frames": "bench.suites.frames",
    "memory": "bench.suites.memory",
    "http": "bench.suites.http",
    "wire": "bench.suites.wire",
    "many": "bench.suites.many",
    "compute": "bench.suites.compute",
    "archive": "bench.suites.archive",
    "import": "bench.suites.imports",  # `import` cannot be the name of a module
}
ROUNDS, QUICK_ROUNDS = 15, 3


def main() -> int:
    options = _options()
    chosen = SUITES if "all" in options.suites else options.suites
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    lines: list[str] = []  # printed since the last section of the page

    def show(*more: str) -> None:
        lines.extend([*more, ""])
        print("\n".join(more) + "\n", flush=True)

    show(*report.of_machine())
    head = [*report.head_of_page(sys.argv[1:]), *lines]
    sections: list[str] = []
    rows: list[Row] = []
    for name in chosen:
        lines.clear()
        suite = importlib.import_module(SUITES[name])
        run: Run = suite.run
        rows += run(rounds, show, options.only)
        if lines:
            sections += report.section_of_page(name, str(suite.__doc__), lines)
    if not sections:
        print(f"no contest of {', '.join(chosen)} is named {options.only}", file=sys.stderr)
        return 2
    if rows:
        lines.clear()
        show(*report.of_goals(rows))
        sections += report.section_of_page("Goals", report.ABOUT_GOALS, lines)
    if options.markdown:
        page = "\n".join([*head, *sections])
        options.markdown.write_text(page.rstrip() + "\n", encoding="utf-8")
    missed = [row.what for row in rows if row.verdict == "MISSED"]
    if options.gate and missed:
        print(f"{len(missed)} of {len(rows)} gates missed:", "; ".join(missed), file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Benchmarks against peers.")
    parser.add_argument("suites", nargs="+", choices=(*SUITES, "all"), metavar="SUITE",
                        help=f"one or more of {', '.join(SUITES)}; or all")  # fmt: skip
    parser.add_argument("--rounds", type=int, help=f"default {ROUNDS}")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds: a first look")
    parser.add_argument("--only", metavar="CONTEST", help="play this contest of the suites alone")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables there")
    parser.add_argument("--gate", action="store_true", help="exit with 1 where a gate is missed")
    options = parser.parse_args()
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds takes 1 or more")
    return options


if __name__ == "__main__":
    sys.exit(main())
