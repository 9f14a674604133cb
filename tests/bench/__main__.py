"""Measures rows of the table and writes what they show: `python tests/bench --help`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

if __package__ in (None, ""):  # run as a folder: the package is what is in it
    tests = Path(__file__).parents[1]
    sys.path[:1] = [str(tests), str(tests / "support")]
# What users start has its bytecode; the first process of each case writes it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from bench.pages import IDLE, ROOT, cells_of, publish
from bench.runner import Results, measured
from bench.table import ROWS
from nginx import serving

TOUCHED = 6 << 30  # bytes, more than all processes of the largest row take


def main() -> int:
    options = _options()
    results, failed, began = Results(options.results), [], time.monotonic()
    left = [name for name in ROWS if name.startswith(tuple(options.rows) or "")]
    if not options.again:
        left = [name for name in left if not results.of(name) or results.load(name) > IDLE]
    if left:
        _touch_memory()
    with serving() as served:
        for name in left:
            if options.minutes and time.monotonic() - began > options.minutes * 60:
                print("no more time: start again for the rest", file=sys.stderr)
                break
            try:
                suite = measured(name, served, options.zlib, options.rounds)
            except KeyboardInterrupt:
                break
            except Exception as problem:
                failed.append(name)
                print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
                continue
            suite.dump(str(results.path(name)), replace=True)
            for cells in cells_of(name, results):
                print(f"{time.monotonic() - began:4.0f} s | {' | '.join(cells)}", flush=True)
    refused = publish(results) if options.publish else ""
    print(refused, file=sys.stderr, end="\n" * bool(refused))
    return 1 if failed or refused else 0


def _touch_memory() -> None:
    """In a process that then ends: a virtual machine pays for each page that it never used."""
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    code, size = "import sys; b'1' * int(sys.argv[1])", min(TOUCHED, available * 2 // 3)
    subprocess.run([sys.executable, "-c", code, str(size)], check=False)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="This library beside others.")
    add, results = parser.add_argument, ROOT / "build/bench/results"
    add("rows", nargs="*", help="how names of rows begin, such as decode or calls/64; else all")
    add("--rounds", type=int, default=5, help="default 5; 1 is a first look")
    add("--zlib", type=Path, metavar="FOLDER", help="where a build with zlib is installed")
    add("--results", type=Path, default=results, help="a folder, for rows that are finished")
    add("--again", action="store_true", help="also measure the rows that are finished")
    add("--minutes", type=float, help="begin no row after so many; what is finished is kept")
    refused = f"write the pages; refused if others kept more than {IDLE} processors busy"
    add("--publish", action="store_true", help=refused)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
