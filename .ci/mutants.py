"""Changes the code in small ways and reports which changes no test notices.

    python .ci/mutants.py                       # every area, 40 mutants each
    python .ci/mutants.py decode pager --count 100 --seed 1
    python .ci/mutants.py --list

Each mutant changes one line: a comparison, a sign, a constant, a condition or a `return`. It is
killed when a test of its area fails, crashes or does not end. Mutants that do not compile do not
count. Survivors are printed with their line: write a test, or a reason into REASONS.

The work happens in a copy of the checkout (build/mutants), so the sources are never changed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build/mutants"
LONGEST = 300  # seconds; a mutant may loop for ever


@dataclass(frozen=True)
class Area:
    """Sources, and the tests that must notice a change in them."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]  # pytest's arguments, or doctest's pattern of source files


AREAS = {
    "decode": Area(("cpp/src/decode/*.cpp", "cpp/src/base/number.cpp"), ("*decode*", "*base*")),
    "pager": Area(("cpp/src/client/pager.cpp", "cpp/src/client/search.cpp"), ("*pager*",)),
    "retry": Area(
        ("cpp/src/client/retry*.cpp", "cpp/src/client/rate_limit.cpp"), ("*retry*", "*engine*")
    ),
    "tokens": Area(
        ("python/tradingdata/client/tokens.py", "python/tradingdata/client/async_tokens.py"),
        ("tests/client/test_tokens.py", "tests/client/test_tokens_shared.py"),
    ),
    "archive": Area(("python/tradingdata/archive/*.py",), ("tests/archive",)),
    "analysis": Area(("python/tradingdata/analysis/*.py",), ("tests/analysis",)),
}

# What to look for on a line, and what to put in its place.
OPERATORS = [
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "),
    (r" >= ", " > "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" \+= ", " -= "),
    (r" -= ", " += "), (r" && ", " || "), (r" \|\| ", " && "), (r" and ", " or "),
    (r" or ", " and "), (r"\bnot ", ""), (r"\bif \(!", "if ("), (r"\bif \(", "if (!"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<!strict=)\bTrue\b", "False"),
    (r"\bFalse\b", "True"),
    (r"(?<![\w.])0(?![\w.])", "1"), (r"(?<![\w.])1(?![\w.])", "2"), (r"\bcontinue\b", "break"),
    (r"\bis not None\b", "is None"), (r"\bis None\b", "is not None"), (r"\bmin\(", "max("),
    (r"\bmax\(", "min("), (r" in ", " not in "),
]  # fmt: skip
SKIPPED = re.compile(r"^\s*(#|//|\"\"\"|import |from |using |namespace |static_assert|template)")


@dataclass(frozen=True)
class Mutant:
    """One changed line of a file."""

    file: str
    line: int
    before: str
    after: str


def mutants_of(area: Area) -> Iterator[Mutant]:
    for path in sorted(path for pattern in area.sources for path in ROOT.glob(pattern)):
        in_docstring = False
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            if path.suffix == ".py" and line.count('"""') == 1:
                in_docstring = not in_docstring
            if in_docstring or SKIPPED.match(line):
                continue
            code = re.split(r"  #|//", line)[0]
            for pattern, replacement in OPERATORS:
                for match in re.finditer(pattern, code):
                    if replacement == " not in " and code.lstrip().startswith("for "):
                        continue
                    after = line[: match.start()] + replacement + line[match.end() :]
                    yield Mutant(str(path.relative_to(ROOT)), number, line, after)


def prepare() -> None:
    """Copies the checkout and builds the core's tests there, without optimisation."""
    COPY.mkdir(parents=True, exist_ok=True)
    for folder in ("cpp", "python", "tests"):
        shutil.copytree(ROOT / folder, COPY / folder, dirs_exist_ok=True)
    for file in ("pyproject.toml", "CMakeLists.txt", "README.md"):
        shutil.copy(ROOT / file, COPY / file)
    # The extension of the installed package, beside the copied sources.
    script = "import tradingdata._core as core; print(core.__file__)"
    found = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, check=True, text=True
    )
    shutil.copy(found.stdout.strip(), COPY / "python/tradingdata")


def build_core() -> bool:
    build = COPY / "build"
    if not (build / "build.ninja").exists():
        settings = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-w")
        run("cmake", "-S", str(COPY / "cpp"), "-B", str(build), "-G", "Ninja", *settings)
    return run("cmake", "--build", str(build), "--target", "core_tests")


def run(*command: str) -> bool:
    """Whether the command ends well and in time."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(COPY / "python"), *sys.path[1:]]),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    try:
        done = subprocess.run(
            command, cwd=COPY, capture_output=True, check=False, timeout=LONGEST, env=environment
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def tests_pass(area: Area) -> bool:
    if area.sources[0].startswith("cpp"):
        pattern = ",".join(area.tests)
        return run(
            str(COPY / "build/tests/core_tests"), f"--source-file={pattern}", "--abort-after=1"
        )
    quiet = ("-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no")
    return run(sys.executable, "-m", "pytest", *quiet, *area.tests)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("areas", nargs="*", choices=list(AREAS), metavar="AREA")
    parser.add_argument("--count", type=int, default=40, help="mutants of each area (40)")
    parser.add_argument("--seed", type=int, default=0, help="chooses other mutants")
    parser.add_argument("--list", action="store_true", help="list areas and how many mutants exist")
    options = parser.parse_args()
    chosen = {name: AREAS[name] for name in options.areas or AREAS}
    if options.list:
        for name, area in chosen.items():
            print(f"{name:10} {len(list(mutants_of(area))):5} mutants")
        return 0
    prepare()
    survivors = 0
    for name, area in chosen.items():
        survivors += try_area(name, area, options.count, options.seed)
    return int(survivors > 0)


def try_area(name: str, area: Area, count: int, seed: int) -> int:
    """Tries a sample of an area's mutants, prints the survivors and returns how many."""
    in_cpp = area.sources[0].startswith("cpp")
    if (in_cpp and not build_core()) or not tests_pass(area):
        raise SystemExit(f"{name}: the tests fail without any mutant")
    every = list(mutants_of(area))
    sample = random.Random(f"{name} {seed}").sample(every, min(count, len(every)))
    made = killed = 0
    for mutant in sample:
        target = COPY / mutant.file
        original = target.read_text("utf-8")
        lines = original.splitlines(keepends=True)
        lines[mutant.line] = mutant.after + "\n"
        target.write_text("".join(lines), "utf-8")
        if not in_cpp or build_core():
            made += 1
            if tests_pass(area):
                print(
                    f"survived {mutant.file}:{mutant.line + 1}\n- {mutant.before}\n+ {mutant.after}"
                )
            else:
                killed += 1
        target.write_text(original, "utf-8")
    print(f"{name}: {killed} of {made} killed", flush=True)
    return made - killed


if __name__ == "__main__":
    sys.exit(main())
