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
GROWTH = 2.0  # a cost for each row above it is marked
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
HEAD = ["", "tradingdata", "others, the fastest first", "", "goal", f"{TIMES} times the size"]
LIBRARIES = "tradingdata msgspec pysimdjson orjson pydantic pycurl httpx aiohttp requests".split()
LIBRARIES += "pandas polars pyarrow duckdb".split()


def figure(benchmark: pyperf.Benchmark) -> str:
    """A median, as `7.1 ms`."""
    value = benchmark.median()
    if benchmark.get_unit() == "byte":
        return f"{value / 1e6:.1f} MB"
    return f"{value * 1e3:,.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


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
    named = {
        label: f"{label}{', untyped' * (each.get_metadata()['untyped'] == 'True')} {figure(each)}"
        for label, each in sorted(peers.items(), key=lambda pair: float(pair[1].median()))
    }
    best = next(iter(named))
    against = row.peer if row.peer in peers else best
    memory, lines = row.memory, []
    for build in builds:
        library = f" ({'zlib' if build == ZLIB else 'ISA-L'})" if len(builds) > 1 else ""
        ratio, reached = (peers[x].median() / figures[build].median() for x in (best, against))
        verdict = compared(ratio, memory=memory) + f": {row.why}" * (ratio < 0.95 and row.why != "")
        bound = "at least " * (row.goal > 1) + "at most " * (row.goal < 1)
        goal = f"{bound}{compared(row.goal, memory=memory)} {'as' if row.goal == 1 else 'than'} "
        goal += f"{against}: {'met' if reached >= row.goal else 'missed'}"
        goal += f" ({compared(reached, memory=memory)})" if against != best else ""
        growth = "-"
        if GROWN in figures:
            grown = figures[GROWN].median() / figures[OURS].median() / TIMES
            growth = f"{grown:.2f}" + f", above {GROWTH:.0f}" * (grown > GROWTH)
        title = f"{row.title.format(size=f'{row.size:,}')}{library}"
        others = named[best] if short else ", ".join(named.values())
        cells = [title, figure(figures[build]), others, verdict]
        lines.append(cells if short else [*cells, goal, growth if build == OURS else "-"])
    return lines


def about_run(results: Results) -> str:
    """On what, with what and when the rows were measured, and which were not."""
    machine = pyperf.Run([1.0]).get_metadata()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    each = [figure for name in ROWS for figure in results.of(name).values()]
    days = " and ".join(sorted({figure.get_metadata()["date"] for figure in each}))
    load = max(float(figure.get_metadata()["load"]) for figure in each)
    left = [ROWS[name].title.format(size=ROWS[name].size) for name in ROWS if not results.of(name)]
    return (
        f"{machine['cpu_model_name']}, {machine['cpu_count']} cores, {platform.system()}, Python "
        f"{platform.python_version()}, {versions}; {days}, while others kept at most {load:.2f} "
        f"processors busy.{' Not measured: ' * bool(left)}{'; '.join(left)}\n"
    )


def block(name: str, results: Results) -> str:
    """What is in a block of a page: the rows of README, those of a group, or about the run."""
    if name == "run":
        return about_run(results)
    short = name == "README"
    rows = README_ROWS if short else [row for row in ROWS if row.startswith(f"{name}/")]
    lines = [cells for x in rows if results.of(x) for cells in cells_of(x, results, short=short)]
    head = [*HEAD[:2], "the fastest other way", ""] if short else HEAD
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ["---"] * len(head), *lines))


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
