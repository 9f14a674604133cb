"""The C++ programs that tell where the limit is, compiled when they are first needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ..harness.bodies import TESTS, digest, folder

HERE = Path(__file__).parent
CPP = TESTS.parent / "cpp"
FLAGS = "-std=c++20 -O3 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()


def libcurl_floor() -> Path:
    """Calls and downloads with bare libcurl."""
    return _program("libcurl_floor", digest(*_sources("libcurl_floor")), [], ["-lcurl"])


def walk_floor() -> Path:
    """The decoder alone, without Python and on warm memory. Needs cmake, for the core's library."""
    core = sorted((CPP / "src").rglob("*.[ch]pp"))
    made_from = digest(*_sources("walk_floor"), *core)
    program = folder() / f"walk_floor-{made_from}"
    if program.exists():
        return program
    build = folder() / f"core-{made_from}"
    settings = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON")
    _quietly("cmake", "-S", str(CPP), "-B", str(build), "-DTRADINGDATA_TESTS=OFF", *settings)
    _quietly("cmake", "--build", str(build), "--target", "tradingdata_decode", "-j2")
    libraries = [str(build / f"libtradingdata_{layer}.a") for layer in ("decode", "table", "base")]
    options = ["-flto=auto", f"-I{CPP / 'src'}"]
    return _program("walk_floor", made_from, options, [*libraries, "-pthread"])


def _sources(name: str) -> list[Path]:
    return [HERE / f"{name}.cpp", HERE / "rounds.hpp"]


def _program(name: str, made_from: str, options: list[str], libraries: list[str]) -> Path:
    program = folder() / f"{name}-{made_from}"
    if not program.exists():
        unfinished = f"{program}.{os.getpid()}"
        compiler = os.environ.get("CXX", "g++")
        source = str(HERE / f"{name}.cpp")
        _quietly(compiler, *FLAGS, *options, source, "-o", unfinished, *libraries)
        Path(unfinished).replace(program)
    return program


def _quietly(*command: str) -> None:
    print(f"$ {' '.join(command)}", file=sys.stderr)
    # cmake may be the environment's own, which is not on the PATH unless it is activated.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
