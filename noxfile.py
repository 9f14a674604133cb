"""The stages of ./.ci/test, each a session: `nox -s python -- -k positions`. `nox -l` lists them.

The sessions share environments of the checkout, with the versions of uv.lock, and one wheel.
./.ci/test installs the system packages, runs sessions one by one, and counts their tests.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build"
TOOLS = ROOT / ".venv-tools"
TEST = ROOT / ".venv-test"
DEV = ROOT / ".venv-dev"
MUTANTS = ROOT / ".venv-mutants"
CMAKE = TOOLS / "bin/cmake"
CXX = os.environ.get("CXX", "c++")
JOBS = str(os.cpu_count() or 2)
# Taken out of the environment, where tests look for settings of the package.
LONG, ALL = (bool(os.environ.pop(f"TRADINGDATA_{name}", "")) for name in ("LONG", "ALL"))
ALL = ALL or LONG
# With --all the extension is compiled as users do it, else in half the time.
EXTENSION = BUILD / ("optimised" if ALL else "extension")
QUICKLY = ("TRADINGDATA_LTO=OFF", "CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
EVERYTHING = ("all", "notebook", "dask")
# More workers than processors: most tests of a client wait for a service or for a deadline.
PARALLEL = ("-q", "-n", str(3 * int(JOBS) // 2), "--dist", "worksteal")

if shutil.which(shlex.split(CXX)[0]) is None and "CXX" in os.environ:
    sys.exit(f"The compiler that CXX names is not installed: {CXX}\nInstall it, or unset CXX.")
nox.options.default_venv_backend = "none"
nox.options.sessions = ["demo", "core", "python", "lint", "format"]
# Without bytecode, each of a thousand processes of the tests would compile every library anew.
for variable in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(variable, None)


# Environments.


@functools.cache
def interpreter() -> str:
    """The Python of the environments: that of nox, unless PYTHON names another."""
    return os.environ.get("PYTHON") or os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]


def output(*command: str | Path) -> str:
    return subprocess.check_output(command, text=True).strip()


@functools.cache
def settings() -> dict[str, str]:
    """What pip is configured with, for uv: an index, certificates."""
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "find-links": "UV_FIND_LINKS",
        "trusted-host": "UV_INSECURE_HOST",
        "cert": "SSL_CERT_FILE",
    }
    command = [interpreter(), "-m", "pip", "config", "list"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.findall(r"^[^=\n]*\.([\w-]+)='(.*)'$", shown, re.MULTILINE)
    chosen = {names[name]: value for name, value in found if name in names}
    return chosen | {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip takes several indexes


def uv(session: nox.Session, *arguments: object, **env: str) -> None:
    program = shutil.which("uv", path=f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}")
    command = [program or "uv", *map(str, arguments)]
    session.run_install(*command, env={"UV_NO_PROGRESS": "1", **settings(), **env}, silent=True)


def add(session: nox.Session, venv: Path, *arguments: object, **env: str) -> None:
    uv(session, "pip", "install", "--quiet", "--python", venv, *arguments, **env)


def install(session: nox.Session, venv: Path, *names: str) -> None:
    """Installs some extras and groups, in the versions of the lock file, if they are not there.

    The lock file names PyPI; the exported names, versions and hashes fit any index that pip uses.
    """
    file = BUILD / "requirements" / f"{'-'.join(names) or 'base'}.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    kinds = (("--extra" if name in EXTRAS else "--group", name) for name in names)
    chosen = [option for pair in kinds for option in pair]
    uv(session, "export", "--frozen", "--no-emit-project", "--no-header", *chosen, "-o", file)
    # An environment does not survive a move of its folder or another interpreter.
    home = f"{venv} by {interpreter()}\n"
    made = venv / ".home"
    if not made.exists() or made.read_text("utf-8") != home:
        uv(session, "venv", "--quiet", "--clear", "--seed", "--python", interpreter(), venv)
        made.write_text(home, "utf-8")
    installed = venv / f".{file.name}"
    if not installed.exists() or installed.read_bytes() != file.read_bytes():
        add(session, venv, "-r", file)
        shutil.copy(file, installed)


def build_tools(session: nox.Session) -> dict[str, str]:
    """Installs CMake and the like. Returns the variables with which commands find them."""
    install(session, TOOLS, "dev")
    found = {"PATH": f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    if shutil.which("ccache"):
        found["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    return found


def fingerprint() -> str:
    """Identifies what the wheel is made from: sources, interpreter, compiler and headers."""
    found = hashlib.sha256(f"{ROOT} {interpreter()} {ALL}".encode())
    sources = "CMakeLists.txt README.md LICENSE pyproject.toml cpp/CMakeLists.txt .ci/bill.py"
    folders = ("cpp/cmake", "cpp/src", "python")
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    for path in [*(ROOT / name for name in sources.split()), *paths]:
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(f"{path} ".encode() + path.read_bytes())
    for header in ("ciso646", "curl/curlver.h", "zlib.h", "isa-l.h"):
        command = [CXX, *"-dM -E -x c++ -include".split(), header, os.devnull]
        found.update(subprocess.run(command, capture_output=True, check=False).stdout)
    return found.hexdigest()


def built_wheel(session: nox.Session) -> Path:
    """Builds the one wheel that every environment installs, unless nothing has changed."""
    folder = BUILD / "wheels" / fingerprint()
    if not list(folder.glob("*.whl")):
        tools = build_tools(session)
        shutil.rmtree(BUILD / "wheels", ignore_errors=True)
        options = [f"cmake.define.{each}" for each in QUICKLY if not ALL]
        build_wheel(session, folder, tools, f"build-dir={EXTENSION}", *options)
    return next(folder.glob("*.whl"))


def build_wheel(
    session: nox.Session, folder: Path, tools: dict[str, str], *options: str, python: Path = TOOLS
) -> None:
    chosen = [f"--config-settings={option}" for option in options]
    pip = "-m pip wheel -q --no-deps --no-build-isolation . --wheel-dir".split()
    session.run_install(python / "bin/python", *pip, folder, *chosen, env=tools, silent=True)


def install_wheel(session: nox.Session, venv: Path) -> None:
    file = built_wheel(session)
    installed = venv / ".wheel"
    if not installed.exists() or installed.read_text("utf-8") != str(file):
        add(session, venv, "--no-deps", "--reinstall", file)
        installed.write_text(str(file), "utf-8")


def environment(session: nox.Session, *groups: str) -> None:
    """Prepares .venv-test: the wheel, what the tests need, and some groups."""
    install(session, TEST, *EVERYTHING, "test", "lint")
    for group in groups:
        install(session, TEST, group)
    install_wheel(session, TEST)


def run(session: nox.Session, module: str, *arguments: str | Path, **env: str) -> None:
    """Runs a module of .venv-test."""
    command = (TEST / "bin/python", "-m", module, *arguments, *session.posargs)
    session.run(*command, env=env)


def cmake(session: nox.Session, preset: str, *options: str, **env: str) -> None:
    """Configures and builds a preset of CMakePresets.json."""
    tools = {**build_tools(session), **env}
    session.run(CMAKE, "--preset", preset, *options, env=tools, silent=True)
    if f'"configurePreset": "{preset}"' in (ROOT / "CMakePresets.json").read_text("utf-8"):
        session.run(CMAKE, "--build", "--preset", preset, env=tools, silent=True)


# What every change must pass.


@nox.session
def demo(session: nox.Session) -> None:
    """the demo, in an installation without extras"""
    install(session, ROOT / ".venv")
    install_wheel(session, ROOT / ".venv")
    session.run(ROOT / ".venv/bin/python", "-m", "tradingdata", "demo", *session.posargs)


def extension_core(session: nox.Session, target: str) -> Path:
    """Builds a test program with the core that was compiled for the wheel."""
    built_wheel(session)
    tools = build_tools(session)
    options = ("-S", ".", "-B", EXTENSION, "-DTRADINGDATA_TESTS=ON")
    session.run(CMAKE, *options, env=tools, silent=True)
    session.run(CMAKE, "--build", EXTENSION, "--target", target, env=tools, silent=True)
    return EXTENSION / "cpp/tests" / target


@nox.session
def core(session: nox.Session) -> None:
    """the C++ tests of the core"""
    session.run(extension_core(session, "core_tests"), *session.posargs)


@nox.session
def python(session: nox.Session) -> None:
    """pytest: all tests but those marked slow or long"""
    environment(session)
    run(session, "pytest", *PARALLEL, *([] if ALL else ["--hypothesis-profile=short"]))


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, import-linter, shellcheck, the hosted workflows, the lock file"""
    install(session, TEST, *EVERYTHING, "test", "lint")
    run(session, "ruff", "check", ".")
    session.run(TEST / "bin/lint-imports", "--no-cache", env={"PYTHONPATH": "python"}, silent=True)
    files = [path for path in sorted((ROOT / ".ci").rglob("*")) if path.is_file()]
    scripts = [path for path in files if re.match(r"#!.*\bbash\b", path.read_text("utf-8"))]
    session.run(TEST / "bin/shellcheck", "-x", *scripts)
    for schema, pattern in (
        ("github-workflows", "workflows/*.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/[pr]*.yml"),
        ("dependabot", "dependabot.yml"),
    ):
        checked = sorted((ROOT / ".github").glob(pattern))
        builtin = ("--builtin-schema", f"vendor.{schema}")
        session.run(TEST / "bin/check-jsonschema", *builtin, *checked)
    session.run(TEST / "bin/zizmor", "--offline", "--no-progress", "--quiet", ".github")
    uv(session, "lock", "--check", "--offline", "--default-index", "https://pypi.org/simple")
    print(f"ruff, import-linter; shellcheck: {len(scripts)} scripts; the workflows; uv.lock")


@nox.session
def format(session: nox.Session) -> None:
    """ruff format, clang-format; `-- --fix` applies them"""
    install(session, TEST, *EVERYTHING, "test", "lint")
    fix = "--fix" in session.posargs
    sources = [*(ROOT / "cpp").rglob("*.[ch]pp"), *(ROOT / "python/bindings").rglob("*.[ch]pp")]
    session.run(TEST / "bin/ruff", "format", *([] if fix else ["--check"]), ".")
    session.run(TEST / "bin/clang-format", *(["-i"] if fix else ["--dry-run", "-Werror"]), *sources)


# The long proofs.


@nox.session
def tidy(session: nox.Session) -> None:
    """clang-tidy over the core and the bindings"""
    environment(session, "tidy")
    build_tools(session)
    python = f"-DPython_EXECUTABLE={TOOLS / 'bin/python'}"
    (pybind11,) = TOOLS.glob("lib/python*/site-packages/pybind11")
    cmake(session, "tidy", python, f"-Dpybind11_ROOT={pybind11}")
    folders = ("cpp/src", "python/bindings")
    sources = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.cpp"))
    tidy = shlex.join([str(TEST / "bin/clang-tidy"), "-p", "build/tidy", "--quiet"])
    each = f"xargs -0 -n 1 -P {JOBS} {tidy}"
    subprocess.run(each, shell=True, check=True, text=True, input="\0".join(map(str, sources)))
    print(f"clang-tidy: {len(sources)} files")


@nox.session
def slow(session: nox.Session) -> None:
    """pytest: the tests marked slow, such as each command in the docs"""
    environment(session, "types")
    run(session, "pytest", *PARALLEL, "-m", "slow and not long")


@nox.session
def versions(session: nox.Session) -> None:
    """pytest: frames and archives with the oldest libraries, and frames with pandas 2"""
    environment(session)
    folders = [ROOT / "tests" / name for name in ("table", "books", "analysis", "accounts")]
    frames = re.compile(r"to_(pandas|polars|arrow|parquet|excel)|__arrow")
    files = [path for folder in folders for path in sorted(folder.glob("test_*.py"))]
    tests = [path for path in files if frames.search(path.read_text("utf-8"))]
    overlays = [(["pandas<3"], tests)]
    # The oldest pandas needs a NumPy of its time, which has no wheels for CPython 3.13.
    if old := sys.version_info < (3, 13):
        # Not what is about the protocol of their files, which no version of DuckDB changes.
        protocol = re.compile("any_use|crashes|damage|writers")
        archives = [
            path
            for path in sorted((ROOT / "tests/archive").glob("test_*.py"))
            if not protocol.search(path.stem)
        ]
        for names, tested in (
            ("pandas polars arrow excel", tests),
            ("pandas arrow duckdb archive", archives),
        ):
            named = [one for name in names.split() for one in EXTRAS[name]]
            oldest = [one.replace(">=", "==") for one in named if "tradingdata" not in one]
            overlays.append((["numpy<2", *oldest], tested))
    for libraries, tested in overlays:
        folder = BUILD / "versions" / re.sub(r"[^\w.-]+", "-", " ".join(libraries))
        if not folder.exists():
            options = ("--only-binary", ":all:", "--no-deps", "--target")
            add(session, TEST, *options, f"{folder}.part", *libraries)
            Path(f"{folder}.part").rename(folder)
        print(*libraries, flush=True)
        env = {"PYTHONPATH": str(folder)}
        run(session, "pytest", *PARALLEL, "-W", "ignore::DeprecationWarning", *tested, **env)
    if not old:
        print("The oldest versions have no wheels for this Python: use 3.11 or 3.12.")


@nox.session
def stubs(session: nox.Session) -> None:
    """the type stubs against the compiled extension"""
    environment(session, "types")
    session.run(TEST / "bin/python", ".ci/stubs.py", "--check")
    allowed = ("--mypy-config-file", "pyproject.toml", "--allowlist", ".ci/stubtest-allowlist")
    run(session, "mypy.stubtest", *allowed, "tradingdata._core")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, pyright"""
    environment(session, "types", "browser", "dev")
    checked = "python/tradingdata python/tradingdata_pytest tests noxfile.py .ci/stubs.py"
    checked += " .ci/platforms/libraries.py .ci/bill.py"
    run(session, "mypy", *checked.split())
    run(session, "pyright", "--pythonpath", TEST / "bin/python")


@nox.session
def docs(session: nox.Session) -> None:
    """builds the documentation; warnings are errors"""
    environment(session, "docs")
    run(session, "sphinx", *"-W --keep-going -q -b html docs build/docs -j".split(), JOBS)
    print("build/docs/index.html")


@nox.session
def jupyter(session: nox.Session) -> None:
    """runs each notebook with a kernel, and takes its pictures in a browser"""
    environment(session, "browser")
    session.run(TEST / "bin/python", "tests/browser/notebooks.py", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """the decoder against simdjson, and against itself in pieces, on mutated bodies"""
    # Compiled file by file, which shows that each includes what it uses.
    cmake(session, "fuzz", CXX=os.environ.get("CXX", "clang++"))
    (BUILD / "fuzz/corpus").mkdir(exist_ok=True)
    until = f"-runs={10**8}" if LONG else "-max_total_time=80"
    options = ("-dict=cpp/fuzz/json.dict", "-max_len=1024", until)
    corpora = (BUILD / "fuzz/corpus", "cpp/fuzz/corpus")
    shown = (f"-artifact_prefix={BUILD}/fuzz/", "-print_final_stats=1", "-verbosity=0")
    session.run(BUILD / "fuzz/cpp/fuzz/decode_fuzz", *corpora, *options, *shown)


@nox.session
def sanitize(session: nox.Session) -> None:
    """the core's tests under AddressSanitizer and UndefinedBehaviorSanitizer"""
    # With zlib in place of ISA-L and without SSE2 or NEON, which the stage `core` has: both are
    # tested, and the corpus of the fuzzer must decode alike. The fuzzer runs SSE2 with sanitizers.
    cmake(session, "sanitize")
    outcomes = Path("cpp/tests/decode_outcomes")
    programs = (extension_core(session, outcomes.name), BUILD / "sanitize" / outcomes)
    if len({subprocess.check_output([one, "cpp/fuzz/corpus", "500"]) for one in programs}) > 1:
        session.error("the portable decoder and that with SSE2 differ on cpp/fuzz/corpus")
    env = {"UBSAN_OPTIONS": "print_stacktrace=1"}
    session.run(BUILD / "sanitize/cpp/tests/core_tests", *session.posargs, env=env)


@nox.session
def threads(session: nox.Session) -> None:
    """the core's tests of threads under ThreadSanitizer"""
    cmake(session, "threads")
    # The decoder has no threads, and would take minutes.
    chosen = "--source-file=*/client/*,*/http/*,*/memory_test*"
    session.run(BUILD / "threads/cpp/tests/core_tests", chosen, *session.posargs)


@nox.session
def extension(session: nox.Session) -> None:
    """tests of the extension under AddressSanitizer and UndefinedBehaviorSanitizer"""
    environment(session)
    tools, folder = build_tools(session), BUILD / "sanitized-extension"
    shutil.rmtree(folder / "site", ignore_errors=True)
    # Every standard header is included first, as those of another library may do: an unqualified
    # call of a function of ours must not find one of std by its arguments.
    defined = {
        "CMAKE_COMPILE_WARNING_AS_ERROR": "ON",
        "CMAKE_CXX_FLAGS": "-include bits/stdc++.h",
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": "-O1 -DNDEBUG",
        "TRADINGDATA_SANITIZE": "address,undefined",
    }
    options = ["cmake.build-type=RelWithDebInfo", "install.strip=false"]
    options += [f"cmake.define.{name}={value}" for name, value in defined.items()]
    build_wheel(session, folder, tools, *options, f"build-dir={folder / 'cmake'}")
    add(session, TEST, "--no-deps", "--target", folder / "site", *folder.glob("*.whl"))
    # With libasan alone the first C++ exception would abort.
    named = ("-print-file-name=libasan.so", "-print-file-name=libstdc++.so")
    preload = " ".join(output(CXX, one) for one in named)
    env = {"PYTHONPATH": str(folder / "site"), "ASAN_OPTIONS": "detect_leaks=0"}
    chosen = "sanitize and not memory and not long and not slow"
    run(session, "pytest", *PARALLEL, "-m", chosen, LD_PRELOAD=preload, **env)


@nox.session
def pythons(session: nox.Session) -> None:
    """pytest: records, client and frames on each other CPython found"""
    tools = build_tools(session)
    show = "import sys; print('{}.{}{}'.format(*sys.version_info[:2], sys.abiflags))"
    found = output("bash", "-c", ". .ci/lib.sh; find_pythons").split()
    version = {path: output(path, "-c", show) for path in found}
    usual = output(interpreter(), "-c", show)
    left_out = {usual} if LONG else {usual, "3.13"}  # the stage `systems` has 3.13
    for path in (one for one in found if version[one] not in left_out):
        print(f"== CPython {version[path]}", flush=True)
        venv, folder = ROOT / f".venv-{version[path]}", BUILD / "pythons" / version[path]
        # With --long also what depends on the interpreter least.
        folders = ("records", "client", *(("transport", "pager") if LONG else ()))
        tested = [f"tests/{name}" for name in folders]
        uv(session, "venv", "--quiet", "--clear", "--seed", "--python", path, venv)
        add(session, venv, *PROJECT["build-system"]["requires"], "--group", "test-wheel")
        # One build folder for all: the core is compiled once, the bindings for each.
        shutil.rmtree(folder, ignore_errors=True)
        options = ("build-dir=build/pythons/cmake", "cmake.define.TRADINGDATA_LTO=OFF")
        build_wheel(session, folder, tools, *options, python=venv)
        add(session, venv, "--no-deps", *folder.glob("*.whl"))
        try:
            names = ("pandas", "polars", "arrow", "excel", "duckdb", "archive", "progress")
            libraries = [one for name in names for one in EXTRAS[name] if "tradingdata" not in one]
            add(session, venv, "--only-binary", ":all:", "openpyxl", *libraries)
            tested.append("tests/table")
        except nox.command.CommandFailed:
            print("Without tests/table: a library of frames has no wheel for this Python.")
        session.run(venv / "bin/python", "-m", "pytest", *PARALLEL, *tested)
    ran = sorted({*version.values()} - left_out)
    if missing := sorted({"3.11", "3.12", "3.13", "3.14", "3.14t"} - {*left_out, *ran}):
        print("Not on this machine: CPython", *missing)
    print("Tested on CPython" if ran else "not run: no CPython here but", *(ran or [usual]))


@nox.session
def tools(session: nox.Session) -> None:
    """CMake, Ninja and what else the build requires, in .venv-tools"""
    build_tools(session)


@nox.session
def platforms(session: nox.Session) -> None:
    """the core compiled for macOS, Windows, ARM, musl and an old glibc"""
    session.run(".ci/platforms/core", *session.posargs)


@nox.session
def floor(session: nox.Session) -> None:
    """the core and the bindings compiled by the oldest compilers that are supported"""
    tools = build_tools(session)
    (pybind11,) = TOOLS.glob("lib/python*/site-packages/pybind11")
    limits = (ROOT / "cpp/cmake/compiler.cmake").read_text("utf-8")
    oldest = dict(re.findall(r"TRADINGDATA_OLDEST_(\w+) (\d+)", limits))
    for cxx in (f"g++-{oldest['GNU']}", f"clang++-{oldest['Clang']}"):
        folder = BUILD / "floor" / cxx
        options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-GNinja"]
        options += ["-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", "-DTRADINGDATA_LTO=OFF"]
        options += [f"-DPython_EXECUTABLE={TOOLS / 'bin/python'}", f"-Dpybind11_ROOT={pybind11}"]
        options += [f"-DCMAKE_CXX_COMPILER={cxx}", "-S", ".", "-B", str(folder)]
        session.run(CMAKE, *options, env=tools, silent=True)
        session.run(CMAKE, "--build", folder, env=tools, silent=True)
        print(f"{cxx}: no warnings")


@nox.session
def systems(session: nox.Session) -> None:
    """both commands on a bare Debian 13, and three compilers"""
    longer = {"TRADINGDATA_LONG": "1"} if LONG else {}
    session.run(".ci/platforms/systems", *session.posargs, env=longer)


@nox.session
def wheel(session: nox.Session) -> None:
    """source distribution and wheel, checked and tested without compiler and headers"""
    # For the platform of most users; every platform takes .ci/platforms/wheels itself.
    command = (".ci/platforms/wheels", "--quick", "glibc-x86_64")
    session.run(*command, env={"PYTHONS": interpreter()}, success_codes=[0, 77])


@nox.session
def soak(session: nox.Session) -> None:
    """pytest: the tests marked long"""
    environment(session)
    run(session, "pytest", "-q", "-m", "long")


@nox.session
def bench(session: nox.Session) -> None:
    """tests/bench in .venv-bench, as users compile it, with ISA-L and with zlib"""
    venv, folder = ROOT / ".venv-bench", BUILD / "bench" / fingerprint()
    install(session, venv, "all", "bench")
    tools = build_tools(session)
    wheels = {"isal": "ON", "zlib": "OFF"}
    if not all(list((folder / name).glob("*.whl")) for name in wheels):
        shutil.rmtree(BUILD / "bench", ignore_errors=True)
        for name, isal in wheels.items():
            options = (f"build-dir=build/bench/{name}", f"cmake.define.TRADINGDATA_ISAL={isal}")
            build_wheel(session, folder / name, tools, *options)
        add(session, venv, "--no-deps", "--reinstall", *(folder / "isal").glob("*.whl"))
        add(
            session,
            venv,
            "--no-deps",
            "--target",
            folder / "site",
            *(folder / "zlib").glob("*.whl"),
        )
    command = (venv / "bin/python", "tests/bench", "--zlib", folder / "site")
    session.run(*command, "--results", folder / "results", *session.posargs)


# The inner loop.


def editable(session: nox.Session) -> None:
    install(session, DEV, *EVERYTHING, "test", "lint", "types", "dev")
    tools = {**build_tools(session), "PATH": f"{DEV / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    made = [ROOT / name for name in ("pyproject.toml", "CMakePresets.json")]
    # The installation lists the modules that it found.
    listed = "".join(sorted(str(path) for path in (ROOT / "python").rglob("*.py"))).encode()
    wanted = hashlib.sha256(listed + b"".join(path.read_bytes() for path in made)).hexdigest()
    stamp = DEV / ".editable"
    if stamp.exists() and stamp.read_text("utf-8") == wanted and (BUILD / "dev").exists():
        (site,) = DEV.glob("lib/python*/site-packages")
        session.run(CMAKE, "--build", "build/dev", env=tools, silent=True)
        session.run(CMAKE, "--install", "build/dev", "--prefix", site, env=tools, silent=True)
    else:
        options = "--no-deps --no-build-isolation --reinstall -Cbuild-dir=build/dev".split()
        add(session, DEV, *options, "-Ccmake.args=--preset=dev", "-e", ".", **tools)
        stamp.write_text(wanted, "utf-8")


@nox.session
def dev(session: nox.Session) -> None:
    """.venv-dev: an editable installation, compiled quickly; `-- tests/x -k y` runs tests in it"""
    editable(session)
    if session.posargs:
        session.run(DEV / "bin/python", "-m", "pytest", "-q", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """changes of the code that tests must notice: `-- python/tradingdata/table 40 tests/table`"""
    if len(session.posargs) < 3 or not session.posargs[1].isdigit():
        session.error("give a path of the package, a number of changes and the tests to run")
    path, count, *tests = session.posargs
    if session.run("git", "status", "--porcelain", path, external=True, silent=True):
        session.error(f"{path} has changes: commit them, since cosmic-ray works on the files")
    editable(session)
    install(session, MUTANTS, "mutants")
    folder = BUILD / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    config, found = folder / "config.toml", folder / "session.sqlite"
    found.unlink(missing_ok=True)
    command = "-m pytest -x -q -p no:cacheprovider --no-header --tb=no".split()
    settings = {
        "module-path": path,
        "test-command": shlex.join([str(DEV / "bin/python"), *command, *tests]),
    }
    added = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    text = (ROOT / "tests/mutants.toml").read_text("utf-8")
    config.write_text(text.replace("[cosmic-ray]\n", f"[cosmic-ray]\n{added}"), "utf-8")
    program = MUTANTS / "bin/cosmic-ray"
    session.run(program, "baseline", config)
    session.run(program, "init", config, found, silent=True)
    session.run(MUTANTS / "bin/cr-filter-operators", found, config, silent=True)
    with closing(sqlite3.connect(found)) as work, work:  # the same sample for the same sources
        jobs = work.execute(
            "SELECT job_id FROM mutation_specs LEFT JOIN work_results USING (job_id)"
            " WHERE worker_outcome IS NULL"
            " ORDER BY module_path, operator_name, occurrence, operator_args"
        ).fetchall()
        random.Random(0).shuffle(jobs)
        skip = "INSERT INTO work_results (job_id, worker_outcome) VALUES (?, 'SKIPPED')"
        work.executemany(skip, jobs[int(count) :])
    # A mutant of the same second and size as the file is another file.
    session.run(program, "exec", config, found, env={"PYTHONDONTWRITEBYTECODE": "1"})
    session.run(MUTANTS / "bin/cr-report", "--surviving-only", "--show-diff", found)
