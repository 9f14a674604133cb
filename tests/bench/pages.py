"""What the figures show, as rows of tables, and the pages that have them."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from pathlib import Path

import pyperf

from .case import OURS, TIMES, ZLIB
from .runner import GROWN, Results
from .table import README_ROWS, ROWS

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/explanation/performance.md")
IDLE = 0.5  # processors that others keep busy, above which a row is not published
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
HEAD = ["", "tradingdata", "others, the fastest first", "", "missed goal"]
LIBRARIES = "tradingdata msgspec pysimdjson orjson pydantic pycurl httpx aiohttp requests".split()
LIBRARIES += "pandas polars pyarrow duckdb".split()


def figure(benchmark: pyperf.Benchmark) -> str:
    """A median, as `7.1 ms`."""
    value = benchmark.median()
    if benchmark.get_unit() == "byte":
        return f"{value / 1e6:.1f} MB"
    return f"{value * 1e3:,.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


def listed(figures: dict[str, pyperf.Benchmark]) -> str:
    """Ways with their figures, the fastest first, with a unit that all have named once."""
    ways = [f"{way}{', untyped' * untyped(each)} {figure(each)}" for way, each in figures.items()]
    (unit, *more) = {way.rpartition(" ")[2] for way in ways}
    return ", ".join(ways) if more else ", ".join(ways).replace(f" {unit},", ",")


def untyped(benchmark: pyperf.Benchmark) -> bool:
    return bool(benchmark.get_metadata()["untyped"] == "True")


def compared(ratio: float, *, memory: bool = False) -> str:
    """How ours compares, by the ratio of theirs to ours."""
    if 0.95 < ratio < 1.05:
        return "as much" if memory else "as fast"
    more, less = ("less", "more") if memory else ("faster", "slower")
    return f"{ratio:.1f} times {more}" if ratio > 1 else f"{1 / ratio:.1f} times {less}"


def cells_of(name: str, results: Results, *, short: bool = False) -> list[list[str]]:
    """The cells of a row, or their short form for README: twice if zlib was measured, too."""
    row, figures = ROWS[name], results.of(name)
    builds = [label for label in (OURS, ZLIB) if label in figures]
    peers = {x: figures[x] for x in figures if x not in (OURS, ZLIB, GROWN)}
    peers = dict(sorted(peers.items(), key=lambda pair: float(pair[1].median())))
    best = next(iter(peers))
    against = row.peer if row.peer in peers else best
    lines = []
    for build in builds:
        library = f" ({'zlib' if build == ZLIB else 'ISA-L'})" if len(builds) > 1 else ""
        ratio, reached = (peers[x].median() / figures[build].median() for x in (best, against))
        goal = ""
        if reached < row.goal:
            goal = f"{'at most ' * (row.goal < 1)}{compared(row.goal, memory=row.memory)}"
            goal += f" than {against} ({reached:.1f})" * (against != best)
        title = f"{row.title.format(size=f'{row.size:,}')}{library}"
        others = listed({best: peers[best]} if short else peers)
        cells = [title, figure(figures[build]), others, compared(ratio, memory=row.memory)]
        lines.append(cells if short else [*cells, goal])
    return lines


def about_run(results: Results) -> str:
    """On what, with what and when the rows were measured, and which were not."""
    machine = pyperf.Run([1.0]).get_metadata()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    rows = [results.of(name) for name in ROWS]
    each = [figure for row in rows for figure in row.values()]
    days = " and ".join(sorted({figure.get_metadata()["date"] for figure in each}))
    load = max(float(figure.get_metadata()["load"]) for figure in each)
    grown = [x[GROWN].median() / x[OURS].median() / TIMES for x in rows if GROWN in x]
    spread = f"{min(grown):.2f} to {max(grown):.2f}" if grown else ""
    growth = (
        f" At {TIMES} times the size, a row, account or day costs {spread} times as much."
        * bool(grown)
    )
    left = [ROWS[name].title.format(size=ROWS[name].size) for name in ROWS if not results.of(name)]
    return (
        f"{machine['cpu_model_name']}, {machine['cpu_count']} cores, {platform.system()}, Python "
        f"{platform.python_version()}, {versions}; {days}, while others kept at most {load:.2f} "
        f"processors busy.{growth}{' Not measured: ' * bool(left)}{'; '.join(left)}\n"
    )


def block(name: str, results: Results) -> str:
    """What is in a block of a page: the rows of README, those of a group, or about the run."""
    if name == "run":
        return about_run(results)
    short = name == "README"
    rows = README_ROWS if short else [row for row in ROWS if row.startswith(f"{name}/")]
    lines = [cells for x in rows if results.of(x) for cells in cells_of(x, results, short=short)]
    head = [*HEAD[:2], "the fastest other way", ""] if short else HEAD
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ["---"] * len(head), *lines))
    reasons = dict.fromkeys(why for row in rows if (why := ROWS[row].why) and slower(row, results))
    return table + f"\nWhere another way is faster: {'; '.join(reasons)}.\n" * bool(reasons)


def slower(name: str, results: Results) -> bool:
    """Whether another way beats ours in a row that was measured."""
    figures = results.of(name)
    others = [figures[label].median() for label in figures if label not in (OURS, ZLIB, GROWN)]
    return bool(others) and min(others) / figures[OURS].median() < 0.95


def publish(results: Results) -> str:
    """Writes the blocks of the pages. Returns why it does not, or nothing."""
    finished = [name for name in ROWS if results.of(name)]
    busy = [f"{name} ({results.load(name)})" for name in finished if results.load(name) > IDLE]
    if busy or not finished:
        return f"not published, since others kept the machine busy: {', '.join(busy) or 'no row'}"
    for path in (ROOT / page for page in PAGES):
        write = lambda match: match[1] + block(match[2], results) + match[3]  # noqa: E731
        path.write_text(BLOCK.sub(write, path.read_text("utf-8")), "utf-8")
    return ""
