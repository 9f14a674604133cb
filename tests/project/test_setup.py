"""What a newcomer meets first: the compiler, and the settings of pip."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def sourced(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash after the library of the commands in .ci."""
    command = ["bash", "-c", f"set -euo pipefail; . .ci/lib.sh; {script}"]
    env = os.environ | variables
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_a_compiler_that_is_not_installed_gets_a_sentence() -> None:
    cxx = "nope-13 -m64"
    done = sourced("install_tools", CXX=cxx)
    assert done.returncode == 1
    assert done.stderr == (
        f"The compiler that CXX names is not installed: {cxx}\nInstall it, or unset CXX.\n"
    )


@pytest.mark.parametrize(
    ("compiler", "version", "refused"),
    [
        ("GNU", "10.2.1", True),
        ("GNU", "11.3.0", False),
        ("AppleClang", "15.0.0", True),
        ("MSVC", "19.38.33133", True),
        ("IntelLLVM", "2023.1", False),
    ],
)
def test_an_old_compiler_gets_a_sentence(compiler: str, version: str, refused: bool) -> None:
    cmake = shutil.which("cmake", path=f"{ROOT}/.venv-tools/bin:{os.environ['PATH']}")
    if cmake is None:
        pytest.skip("needs CMake")
    defined = (f"-DCMAKE_CXX_COMPILER_ID={compiler}", f"-DCMAKE_CXX_COMPILER_VERSION={version}")
    command = [cmake, *defined, "-P", str(ROOT / "cpp/cmake/compiler.cmake")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == refused
    text = " ".join(done.stderr.split())
    assert not refused or f"this is {compiler} {version}: install a newer one, and name it" in text


def configured(folder: Path, *options: str) -> str:
    """What CMake says of the core that it cannot configure."""
    path = f"{ROOT}/.venv-tools/bin:{os.environ['PATH']}"
    cmake, ninja = (shutil.which(program, path=path) for program in ("cmake", "ninja"))
    if cmake is None or ninja is None:
        pytest.skip("needs CMake and Ninja")
    command = [cmake, "-G", "Ninja", "-S", f"{ROOT}/cpp", "-B", str(folder), *options]
    command.append("-DTRADINGDATA_TESTS=OFF")
    env = os.environ | {"PATH": path}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return " ".join(done.stderr.split())


def test_an_old_libcurl_gets_a_sentence(tmp_path: Path) -> None:
    """Ubuntu 22.04 and RHEL 9 were asked to install the headers that they had."""
    version = "7.81.0"
    (tmp_path / "curl").mkdir()
    (tmp_path / "curl/curl.h").touch()
    (tmp_path / "curl/curlver.h").write_text(f'#define LIBCURL_VERSION "{version}"\n')
    (tmp_path / "libcurl.a").touch()
    place = (f"-DCURL_INCLUDE_DIR={tmp_path}", f"-DCURL_LIBRARY={tmp_path}/libcurl.a")
    said = configured(tmp_path / "build", "-DCURL_NO_CURL_CMAKE=ON", *place)
    assert f"needs libcurl 7.87 or newer, and this system has {version}: install a w" in said


def test_a_missing_libcurl_names_the_package(tmp_path: Path) -> None:
    said = configured(tmp_path / "build", "-DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON")
    assert "needs the libcurl headers. Install them and try again: Debian, Ubuntu: sudo" in said
