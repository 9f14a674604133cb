"""Changes the code in small ways and reports which changes no test notices.

    python tests/mutants/mutants.py                                  # 40 of the whole project
    python tests/mutants/mutants.py --count 200 --seed 1             # others
    python tests/mutants/mutants.py python/tradingdata/books --count 0      # every one of a folder
    python tests/mutants/mutants.py --list

Each mutant changes one line: a comparison, a sign, a constant, a condition, or a call that it
leaves out. The test that killers.json names for it runs first, if there is one; --renew writes what
was found. Else the tests in TESTS of its folder run until one fails, crashes or does not end: the
mutant is killed. In C++ the core's tests come first, then those in Python with the changed
extension. Mutants that do not compile do not count. Headers have none, since each would compile
most of the core again.

Survivors are printed with their line: write a test, or list the mutant in mutants.toml with the
reason why no test can notice it. A listed one that can no longer be made must leave the list, and
with --listed also one that a test notices.

The work happens in copies of the checkout (build/mutants), so the sources are never changed. What
killed a mutant must pass without any: those tests run once more at the end.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

ROOT = Path(__file__).parents[2]
COPIES = ROOT / "build/mutants"
LISTED = Path(__file__).with_suffix(".toml")
KILLERS = Path(__file__).with_name("killers.json")
CORE = "core_tests"
LIMIT = 300  # seconds for the tests of a mutant, which may loop for ever
KNOWN_LIMIT = 60  # for the one test that noticed it last time

# The sources, and the tests that must notice a change in them; the first folder that matches.
TESTS = {
    "python/tradingdata/accounts": "accounts",
    "python/tradingdata/analysis/": "analysis cli/test_cli_positions.py",
    "python/tradingdata/archive/": "archive golden oracles cli/test_cli_archive.py",
    "python/tradingdata/books/": "books golden table records watch oracles",
    "python/tradingdata/cli/": "cli",
    "python/tradingdata/client/paging": "pager",
    "python/tradingdata/client/search": "pager client",
    "python/tradingdata/client/": "client books/test_bad_input.py pager accounts transport oracles",
    "python/tradingdata/display/": "books golden table analysis cli",
    "python/tradingdata/sandbox/": "sandbox",
    "python/tradingdata/table/": "table books records analysis/test_result_tables.py",
    "python/tradingdata/watch/": "watch cli/test_cli_watch.py",
    "python/tradingdata/_util/": "client books records table accounts process archive",
    "python/tradingdata/dask": "accounts/test_dask.py",
    "python/tradingdata/": "client records books project/test_import.py watch",
    "cpp/src/base/": "records books table transport",
    "cpp/src/client/": "client transport pager process/test_interrupts.py",
    "cpp/src/compute/": "analysis",
    "cpp/src/decode/": "books records table",
    "cpp/src/export/": "table books cli/test_cli_books.py",
    "cpp/src/http/": "transport client",
    "cpp/src/privacy/": "process/test_echoed_tokens.py books client",
    "cpp/src/table/": "table books records",
    "python/bindings/": "records books table analysis client transport process",
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
    (r"^ +(?!return\b|throw\b|new\b|delete\b|static)[\w:.>-]+\([^=]*\);$", ";"),
]  # fmt: skip
PYTHON = [
    (r" and ", " or "), (r" or ", " and "), (r"\bnot (?!in\b|None\b)", ""),
    (r"(?<!not) in ", " not in "), (r" AND ", " OR "),
    (r"\bis not None\b", "is None"), (r"\bis None\b", "is not None"),
    (r"(?<!strict=)\bTrue\b", "False"), (r"\bFalse\b", "True"),
    (r"(?<=^)(?: {4})+(?=[\w.]+\([^=]*\)$)(?!.*\byield\b).*", "pass"),
]  # fmt: skip
SKIPPED = re.compile(r"^\s*(#|//|import |from |using |namespace |static_assert|template|@)")

Change = tuple[str, str, str]  # the file, and its line before and after


@dataclass(frozen=True)
class Mutant:
    """One changed line of a file."""

    file: str
    line: int
    before: str
    after: str

    @property
    def change(self) -> Change:
        """What identifies it when lines have moved."""
        return self.file, self.before.strip(), self.after.strip()

    @property
    def in_cpp(self) -> bool:
        return self.file.endswith(".cpp")

    @property
    def target(self) -> str:
        """What a build in C++ must make to try it."""
        return "_core" if "bindings" in self.file else CORE

    @property
    def folder(self) -> str:
        return next(prefix for prefix in TESTS if self.file.startswith(prefix))

    def text(self, root: Path) -> str:
        """The changed file."""
        lines = (root / self.file).read_text("utf-8").splitlines(keepends=True)
        lines[self.line] = self.after + "\n"
        return "".join(lines)

    def is_code(self) -> bool:
        """Whether Python can read it. Of C++ only a compiler knows."""
        try:
            self.in_cpp or compile(self.text(ROOT), self.file, "exec", dont_inherit=True)
        except SyntaxError:
            return False
        return True


def docstrings(source: str) -> set[int]:
    """Returns the numbers of the lines of docstrings, from 0."""
    texts = (
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
    return {
        line
        for text in texts
        if isinstance(text.value, str)
        for line in range(text.lineno - 1, text.end_lineno or 0)
    }


def mutants_of(path: Path) -> Iterator[Mutant]:
    source = path.read_text("utf-8")
    is_python = path.suffix == ".py"
    skipped = docstrings(source) if is_python else set()
    for number, line in enumerate(source.splitlines()):
        if number in skipped or SKIPPED.match(line):
            continue
        # Without what text says: no test compares each word of a message.
        code = re.sub(r'"[^"]*"', lambda text: '"' * len(text[0]), line)
        code = re.split(r"  #|//", code)[0]
        for pattern, replacement in COMMON + (PYTHON if is_python else CPP):
            for match in re.finditer(pattern, code):
                start = match.start()
                if replacement in ("pass", ";"):  # a call, with its indentation
                    start += len(line) - len(line.lstrip())
                after = line[:start] + replacement + line[match.end() :]
                yield Mutant(str(path.relative_to(ROOT)), number, line, after)


def all_mutants() -> list[Mutant]:
    folders = {"python/tradingdata": "*.py", "python/bindings": "*.cpp", "cpp/src": "*.cpp"}
    paths = (path for folder, names in folders.items() for path in (ROOT / folder).rglob(names))
    return [mutant for path in sorted(paths) for mutant in mutants_of(path)]


def listed(possible: Iterable[Mutant]) -> set[Change]:
    """The changes that no test can notice. One that can no longer be made must leave the list."""
    found = tomllib.loads(LISTED.read_text("utf-8"))["equivalent"]
    changes = {(one["file"], one["before"], one["after"]) for one in found if one["reason"]}
    if stale := changes - {mutant.change for mutant in possible}:
        raise SystemExit("\n".join(["Remove from mutants.toml:", *map(str, sorted(stale))]))
    return changes


def sample(mutants: Iterable[Mutant], count: int, cpp: int, seed: str) -> list[Mutant]:
    """Takes mutants of each folder in turn, at most ``cpp`` of C++.

    They stay the same for a seed as long as their lines stay, whatever changes elsewhere.
    """

    def place(mutant: Mutant) -> bytes:
        return hashlib.sha256(repr((seed, mutant.change)).encode()).digest()

    if not count:
        return [mutant for mutant in mutants if mutant.is_code()]
    chosen: list[Mutant] = []
    for in_cpp, number in ((True, cpp), (False, count - cpp)):
        folders: dict[str, list[Mutant]] = {folder: [] for folder in TESTS}
        for mutant in sorted(mutants, key=place):
            if mutant.in_cpp == in_cpp:
                folders[mutant.folder].append(mutant)
        turns = itertools.chain.from_iterable(itertools.zip_longest(*folders.values()))
        valid = (mutant for mutant in turns if mutant and mutant.is_code())
        chosen += itertools.islice(valid, number)
    return chosen


class Copy:
    """A copy of the checkout, in which one mutant at a time is tried."""

    def __init__(self, name: str, excluded: set[Change], known: dict[Change, str]) -> None:
        self.excluded, self.known = excluded, known
        self.root = COPIES / name
        self.build = self.root / "build"
        self.package = self.root / "python/tradingdata"
        self.killers: dict[Change, list[str]] = {}  # the tests that failed

    def prepare(self) -> None:
        """Copies the checkout, with the extension of the installed package beside the sources."""
        self.root.mkdir(parents=True, exist_ok=True)
        for folder in ("cpp", "python", "tests", "docs", "notebooks"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
            shutil.copytree(ROOT / folder, self.root / folder)
        for file in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "noxfile.py"):
            shutil.copy2(ROOT / file, self.root / file)
        script = "import tradingdata._core as core; print(core.__file__)"
        command = [sys.executable, "-P", "-c", script]
        found = subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
        self.installed = Path(found)
        self.extension = self.package / self.installed.name
        shutil.copy(self.installed, self.extension)
        (self.root / "python/sitecustomize.py").write_text(SITE, "utf-8")
        if self.run(sys.executable, "-c", IMPORTED, str(self.root / "python"))[0]:
            raise SystemExit(f"Python imports another tradingdata than {self.package}")

    def run(self, *command: str | Path, limit: float = 1200) -> tuple[int | None, str]:
        """Runs a command and returns its status, None if it took longer, and what it printed."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.root / "python"), *sys.path[1:]]),
            "PYTHONDONTWRITEBYTECODE": "1",  # a mutant of the same second and size is another file
            # The same objects for each copy, and for what a mutant has changed back.
            "CCACHE_BASEDIR": str(self.root),
            "CCACHE_NOHASHDIR": "1",
        }
        # A mutant may also fill the memory for ever.
        limited = ("sh", "-c", 'ulimit -d 8000000; exec "$@"', "sh", *map(str, command))
        process = subprocess.Popen(
            limited,
            cwd=self.root,
            env=environment,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status: int | None = None
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=limit)
            status = process.returncode
        with suppress(ProcessLookupError):  # with what it has started
            os.killpg(process.pid, signal.SIGKILL)
        return status, process.communicate()[0]

    def compiles(self, target: str, *, first: bool = False) -> bool:
        """Builds a target of C++ without optimisation."""
        options = ("BUILD_TYPE=Debug", "CXX_FLAGS=-w", "CXX_FLAGS_DEBUG=-O0")
        settings = [f"-DCMAKE_{each}" for each in options]
        settings += ["-DTRADINGDATA_LTO=OFF", "-DTRADINGDATA_TESTS=ON"]
        if not (self.build / "build.ninja").exists():
            python = f"-DPython_EXECUTABLE={sys.executable}"
            if found := importlib.util.find_spec("pybind11"):  # else the environment names its root
                settings.append(f"-Dpybind11_ROOT={Path(found.origin or '').parent}")
            self.run("cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", python, *settings)
        status, printed = self.run("cmake", "--build", self.build, "--target", target)
        if first and status:
            raise SystemExit(f"{target} does not compile:\n{printed}")
        return status == 0

    def failed(self, *tests: str, limit: float = LIMIT) -> list[str] | None:
        """The tests that fail, until one does; None if there are no such tests.

        If they crash or do not end, the one that had begun.
        """
        options = "-v -x -rfE -p no:cacheprovider --no-header --tb=no --basetemp".split()
        command = (sys.executable, "-m", "pytest", *options, str(self.root / "tmp"), *tests)
        status, printed = self.run(*command, limit=limit)
        if status in (4, 5):
            return None
        if status == 0:
            return []
        failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", printed, re.MULTILINE)
        begun = re.findall(r"^(tests/\S+::.+?)(?: +[A-Z]{4}.*)? *$", printed, re.MULTILINE)
        if status is None and begun and tests != (begun[-1],):
            # That all took too long may be the load. What hangs does so alone.
            return self.failed(begun[-1], limit=limit) or self.failed(*tests, limit=2 * limit)
        return failed or begun[-1:] or list(tests)

    def killers_of(self, mutant: Mutant) -> list[str] | None:
        """The tests that notice a mutant, none if it survives; None if it does not compile."""
        target = self.root / mutant.file
        known = self.known.get(mutant.change, "")
        original = target.read_text("utf-8")
        target.write_text(mutant.text(self.root), "utf-8")
        try:
            if mutant.in_cpp:
                if not self.compiles(mutant.target):
                    return None
                if mutant.target == CORE:
                    _, _, case = known.partition(f"{CORE}: ")
                    if failed := (case and self.core_tests(case)) or self.core_tests():
                        return failed
                self.compiles("_core")
                (made,) = self.build.glob("python/bindings/_core*.so")
                shutil.copy(made, self.extension)
            if known and (found := self.failed(known, limit=KNOWN_LIMIT)):
                return found
            tests = self.tests(mutant)
            found = self.failed(*tests)
            return tests if found is None else found
        finally:
            target.write_text(original, "utf-8")
            if mutant.in_cpp:
                shutil.copy(self.installed, self.extension)

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that must notice it, first those that noticed others of its file."""
        paths = [
            path
            for each in TESTS[mutant.folder].split()
            for path in sorted((ROOT / "tests" / each).glob("test_*.py")) or [ROOT / "tests" / each]
        ]
        names = [str(path.relative_to(ROOT)) for path in paths]
        near = {
            test.partition("::")[0]
            for (file, *_), test in self.known.items()
            if file == mutant.file
        }
        stem = Path(mutant.file).stem.rstrip("s")
        return sorted(names, key=lambda name: (name not in near, stem not in Path(name).stem))

    def core_tests(self, case: str = "*") -> list[str]:
        """The case of the core's tests that fails first, if any; all of them if they crash."""
        tests = self.build / "cpp/tests" / CORE
        wanted = case.replace(",", "?")  # which would part two names
        status, printed = self.run(tests, "--abort-after=1", f"--test-case={wanted}", limit=LIMIT)
        names = re.findall(r"^TEST CASE:\s+(.+)$", printed, re.MULTILINE)
        return [] if status == 0 else [f"{CORE}: {name}" for name in names[-1:]] or [CORE]

    def try_all(self, queues: Iterable[SimpleQueue[Mutant]]) -> list[bool]:
        """Tries what is left in queues; prints what is not as expected, and returns which was."""
        self.prepare()
        tried = []
        ready: set[str] = set()
        for queue in queues:
            while True:
                try:
                    mutant = queue.get_nowait()
                except Empty:
                    break
                if mutant.in_cpp and mutant.target not in ready:
                    self.compiles(mutant.target, first=True)
                    ready.add(mutant.target)
                killers = self.killers_of(mutant)
                if killers is None:
                    continue
                is_listed = mutant.change in self.excluded
                tried.append(is_listed == (not killers))
                if killers:
                    self.killers[mutant.change] = killers
                if not tried[-1]:
                    what = "is noticed: remove it from mutants.toml" if killers else "survived"
                    place = f"{mutant.file}:{mutant.line + 1}"
                    print(f"{place} {what}\n- {mutant.before}\n+ {mutant.after}", flush=True)
        killers = sorted({test for tests in self.killers.values() for test in tests})
        cases = [test for test in killers if test.startswith(CORE)]
        tests = [test for test in killers if test not in cases]
        if cases:
            self.compiles(CORE, first=True)
        if any(self.core_tests(case.partition(": ")[2] or "*") for case in cases) or (
            tests and self.failed(*tests, limit=10 * LIMIT) != []
        ):
            raise SystemExit(f"some of these tests fail without any mutant: {' '.join(killers)}")
        return tried


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("paths", nargs="*", help="files or folders to change; all without any")
    parser.add_argument("--count", type=int, default=40, help="number of mutants (40); 0: all")
    parser.add_argument("--cpp", type=int, help="how many of them in C++ (a tenth)")
    parser.add_argument("--seed", default="0", help="chooses other mutants")
    parser.add_argument("--list", action="store_true", help="list how many mutants each folder has")
    parser.add_argument("--listed", action="store_true", help="try those of mutants.toml too")
    parser.add_argument("--renew", action="store_true", help=f"note the killers in {KILLERS.name}")
    parser.add_argument("--jobs", type=int, default=2, help="copies to work in at a time (2)")
    options = parser.parse_args()
    mutants = all_mutants()
    excluded = listed(mutants)
    possible = {mutant.change for mutant in mutants}
    chosen = tuple(options.paths)
    mutants = [mutant for mutant in mutants if mutant.file.startswith(chosen or "")]
    if options.list:
        for folder, number in Counter(str(Path(each.file).parent) for each in mutants).items():
            print(f"{folder:36} {number:5}")
        return 0
    kept = [mutant for mutant in mutants if mutant.change not in excluded]
    in_cpp = options.count // 10 if options.cpp is None else options.cpp
    picked = sample(kept, options.count, in_cpp, options.seed)
    if options.listed:
        picked += [mutant for mutant in mutants if mutant.change in excluded]
    print(f"Seed {options.seed}: {len(picked)} mutants", flush=True)
    cpp: SimpleQueue[Mutant] = SimpleQueue()
    python: SimpleQueue[Mutant] = SimpleQueue()
    for mutant in picked:
        (cpp if mutant.in_cpp else python).put(mutant)
    known = {
        (file, before, after): test
        for file, before, after, test in json.loads(KILLERS.read_text("utf-8"))
    }
    copies = [Copy(str(number), excluded, known) for number in range(options.jobs)]
    # The first alone has a build of C++.
    queues = [(cpp, python) if number == 0 else (python,) for number in range(options.jobs)]
    with ThreadPoolExecutor(options.jobs) as executor:
        results = list(executor.map(Copy.try_all, copies, queues))
    tried = [one for result in results for one in result]
    if options.renew:
        for copy in copies:
            known |= {change: tests[0] for change, tests in copy.killers.items() if len(tests) == 1}
        lines = [
            json.dumps([*change, test]) for change, test in known.items() if change in possible
        ]
        KILLERS.write_text("[\n" + ",\n".join(sorted(lines)) + "\n]\n", "utf-8")
    print(f"{sum(tried)} of {len(tried)} mutants killed or listed; {len(excluded)} are listed")
    return int(not all(tried))


if __name__ == "__main__":
    sys.exit(main())
