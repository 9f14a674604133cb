"""Changes the code in small ways and reports which changes no test notices.

    python tests/mutants/mutants.py                       # every area, 40 mutants each
    python tests/mutants/mutants.py decode pager --count 100 --seed 1
    python tests/mutants/mutants.py --count 0             # every mutant: many hours
    python tests/mutants/mutants.py --list

Each mutant changes one line: a comparison, a sign, a constant, a condition or a `return`. It is
killed when a test of its area fails, crashes or does not end. Mutants that do not compile do not
count, nor do those in mutants.toml, which change nothing that a test could notice. Survivors are
printed with their line: write a test, or list the mutant there with the reason.

The work happens in a copy of the checkout (build/mutants), so the sources are never changed. The
areas in C++ and those in Python run beside each other.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPY = ROOT / "build/mutants"
LISTED = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Area:
    """Sources, and the tests that must notice a change in them."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]  # pytest's arguments, quick tests first, or doctest's source files

    @property
    def in_cpp(self) -> bool:
        return self.sources[0].startswith("cpp")


AREAS = {
    "decode": Area(
        ("cpp/src/decode/**/*.cpp", "cpp/src/base/number.cpp"),
        ("*/tests/decode/*", "*/tests/base/*"),
    ),
    "pager": Area(
        ("python/tradingdata/client/paging.py", "python/tradingdata/client/search_pass.py"),
        ("tests/pager/test_paging.py", "tests/pager"),
    ),
    "retry": Area(
        ("cpp/src/client/retry.cpp",),
        ("*/tests/client/retry*", "*/tests/client/engine*"),
    ),
    "tokens": Area(
        ("python/tradingdata/client/tokens.py", "python/tradingdata/client/bridge.py"),
        (
            "tests/client/test_tokens.py",
            "tests/client/test_asyncio_bridge.py",
            "tests/client/test_client.py",
            "tests/books/test_bad_input.py",
        ),
    ),
    "archive": Area(
        ("python/tradingdata/archive/*.py",), ("tests/archive/test_archive.py", "tests/archive")
    ),
    "analysis": Area(
        ("python/tradingdata/analysis/*.py",),
        ("tests/analysis/test_result_tables.py", "tests/analysis"),
    ),
}

# The finder of an editable installation comes before PYTHONPATH: no test would see a mutant.
SITE = """import sys
sys.meta_path[:] = [one for one in sys.meta_path if "Redirecting" not in type(one).__name__]
"""
IMPORTED = """import sys, tradingdata
sys.exit(not tradingdata.__file__.startswith(sys.argv[1]))
"""

# What to look for on a line, and what to put in its place.
COMMON = [
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "),
    (r" >= ", " > "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" \+= ", " -= "),
    (r" -= ", " += "), (r"(?<![\w.])0(?![\w.])", "1"), (r"(?<![\w.])1(?![\w.])", "2"),
    (r"\bcontinue\b", "break"), (r"\bmin\(", "max("), (r"\bmax\(", "min("),
]  # fmt: skip
CPP = [
    (r" && ", " || "), (r" \|\| ", " && "), (r"\bif \(!", "if ("), (r"\bif \((?!!)", "if (!"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
]  # fmt: skip
PYTHON = [
    (r" and ", " or "), (r" or ", " and "), (r"\bnot (?!in\b|None\b)", ""),
    (r"(?<!not) in ", " not in "),
    (r"\bis not None\b", "is None"), (r"\bis None\b", "is not None"),
    (r"(?<!strict=)\bTrue\b", "False"), (r"\bFalse\b", "True"),
]  # fmt: skip
SKIPPED = re.compile(r"^\s*(#|//|\"\"\"|import |from |using |namespace |static_assert|template)")


@dataclass(frozen=True)
class Mutant:
    """One changed line of a file."""

    file: str
    line: int
    before: str
    after: str

    @property
    def change(self) -> tuple[str, str, str]:
        """What identifies it when lines have moved."""
        return self.file, self.before.strip(), self.after.strip()


def mutants_of(area: Area) -> Iterator[Mutant]:
    for path in sorted(path for pattern in area.sources for path in ROOT.glob(pattern)):
        in_docstring = False
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            if path.suffix == ".py" and line.count('"""') == 1:
                in_docstring = not in_docstring
            if in_docstring or SKIPPED.match(line):
                continue
            # Without what text says: no test compares each word of a message.
            code = re.sub(r'"[^"]*"', lambda text: '"' * len(text[0]), line)
            code = re.split(r"  #|//", code)[0]
            for pattern, replacement in COMMON + (PYTHON if path.suffix == ".py" else CPP):
                for match in re.finditer(pattern, code):
                    after = line[: match.start()] + replacement + line[match.end() :]
                    yield Mutant(str(path.relative_to(ROOT)), number, line, after)


def listed() -> set[tuple[str, str, str]]:
    """The changes that no test can notice. One that can no longer be made must leave the list."""
    found = tomllib.loads(LISTED.read_text("utf-8"))["equivalent"]
    changes = {(one["file"], one["before"], one["after"]) for one in found if one["reason"]}
    possible = {mutant.change for area in AREAS.values() for mutant in mutants_of(area)}
    if stale := changes - possible:
        raise SystemExit("\n".join(["Remove from mutants.toml:", *map(str, sorted(stale))]))
    return changes


def sample(mutants: Iterable[Mutant], count: int, seed: str) -> list[Mutant]:
    """The same ones for a seed as long as their lines stay, whatever changes elsewhere."""

    def place(mutant: Mutant) -> bytes:
        return hashlib.sha256(repr((seed, mutant.change)).encode()).digest()

    return sorted(mutants, key=place)[: count or None]


def prepare() -> None:
    """Copies the checkout, with the extension of the installed package beside the sources."""
    COPY.mkdir(parents=True, exist_ok=True)
    for folder in ("cpp", "python", "tests", "docs"):
        shutil.rmtree(COPY / folder, ignore_errors=True)
        shutil.copytree(ROOT / folder, COPY / folder)
    for file in ("pyproject.toml", "CMakeLists.txt", "README.md"):
        shutil.copy2(ROOT / file, COPY / file)
    script = "import tradingdata._core as core; print(core.__file__)"
    found = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, check=True, text=True
    )
    shutil.copy(found.stdout.strip(), COPY / "python/tradingdata")
    (COPY / "python/sitecustomize.py").write_text(SITE, "utf-8")
    if not run(sys.executable, "-c", IMPORTED, str(COPY / "python")):
        raise SystemExit("Python imports another tradingdata than the copy in build/mutants")


def build_core() -> bool:
    """Builds the core's tests without optimisation, and each source by itself."""
    build = COPY / "build"
    settings = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-w", "-DTRADINGDATA_UNITY=OFF")
    if not (build / "build.ninja").exists():
        run("cmake", "-S", str(COPY / "cpp"), "-B", str(build), "-G", "Ninja", *settings)
    return run("cmake", "--build", str(build), "--target", "core_tests")


def compiles(source: str) -> bool:
    try:
        compile(source, "", "exec")
    except SyntaxError:
        return False
    return True


def run(*command: str, limit: float = 900) -> bool:
    """Whether the command ends well, and in this many seconds."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(COPY / "python"), *sys.path[1:]]),
        "PYTHONDONTWRITEBYTECODE": "1",  # a mutant of the same second and size is another file
    }
    try:
        done = subprocess.run(
            command, cwd=COPY, capture_output=True, check=False, timeout=limit, env=environment
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def passes_tests(area: Area, limit: float = 900) -> bool:
    if area.in_cpp:
        pattern = f"--source-file={','.join(area.tests)}"
        return run(str(COPY / "build/tests/core_tests"), pattern, "--abort-after=1", limit=limit)
    quiet = ("-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no")
    return run(sys.executable, "-m", "pytest", *quiet, *area.tests, limit=limit)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--count", type=int, default=40, help="mutants of each area (40); 0: all")
    parser.add_argument("--seed", default="0", help="chooses other mutants")
    parser.add_argument("--list", action="store_true", help="list areas and how many mutants exist")
    options = parser.parse_args()
    if unknown := set(options.areas) - set(AREAS):
        parser.error(f"unknown area {min(unknown)!r}: choose from {', '.join(AREAS)}")
    chosen = {name: AREAS[name] for name in options.areas or AREAS}
    excluded = listed()
    mutants = {
        name: [mutant for mutant in mutants_of(area) if mutant.change not in excluded]
        for name, area in chosen.items()
    }
    if options.list:
        for name, found in mutants.items():
            print(f"{name:10} {len(found):5} mutants")
        return 0
    prepare()
    print(f"Seed: {options.seed}", flush=True)

    def try_areas(in_cpp: bool) -> list[tuple[int, int]]:
        return [
            try_area(name, area, sample(mutants[name], options.count, options.seed))
            for name, area in chosen.items()
            if area.in_cpp == in_cpp
        ]

    with ThreadPoolExecutor(2) as executor:
        results = [one for found in executor.map(try_areas, (True, False)) for one in found]
    killed, made = (sum(counts) for counts in zip(*results, strict=True))
    print(f"{killed} of {made} mutants killed, {len(excluded)} listed as equivalent")
    return int(killed < made)


def try_area(name: str, area: Area, mutants: list[Mutant]) -> tuple[int, int]:
    """Tries mutants of an area, prints the survivors and returns how many were killed and made."""
    built = not area.in_cpp or build_core()
    started = time.monotonic()
    if not built or not passes_tests(area):
        raise SystemExit(f"{name}: the tests fail without any mutant")
    limit = 20 + 4 * (time.monotonic() - started)  # a mutant may loop for ever
    made = killed = 0
    for mutant in mutants:
        target = COPY / mutant.file
        original = target.read_text("utf-8")
        lines = original.splitlines(keepends=True)
        lines[mutant.line] = mutant.after + "\n"
        target.write_text("".join(lines), "utf-8")
        if build_core() if area.in_cpp else compiles("".join(lines)):
            made += 1
            if passes_tests(area, limit):
                place = f"{mutant.file}:{mutant.line + 1}"
                print(f"survived {place}\n- {mutant.before}\n+ {mutant.after}", flush=True)
            else:
                killed += 1
        target.write_text(original, "utf-8")
    print(f"{name}: {killed} of {made} killed", flush=True)
    return killed, made


if __name__ == "__main__":
    sys.exit(main())
