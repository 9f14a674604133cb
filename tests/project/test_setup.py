"""What a newcomer meets first: a sentence where the compiler or libcurl is too old or missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATH = f"{ROOT}/.venv-tools/bin:{os.environ['PATH']}"


def said(*options: str) -> str:
    """What CMake says before it gives up; nothing if it does not."""
    if shutil.which("cmake", path=PATH) is None or shutil.which("ninja", path=PATH) is None:
        pytest.skip("needs CMake and Ninja")
    done = subprocess.run(
        ["cmake", *options],
        env=os.environ | {"PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    return " ".join(done.stderr.split()) if done.returncode else ""


@pytest.mark.parametrize(
    ("compiler", "version", "is_refused"),
    [
        ("GNU", "10.2.1", True),
        ("GNU", "11.3.0", False),
        ("AppleClang", "15.0.0", True),
        ("MSVC", "19.38.33133", True),
        ("IntelLLVM", "2023.1", False),
    ],
)
def test_an_old_compiler_gets_a_sentence(compiler: str, version: str, is_refused: bool) -> None:
    defined = (f"-DCMAKE_CXX_COMPILER_ID={compiler}", f"-DCMAKE_CXX_COMPILER_VERSION={version}")
    words = f"this is {compiler} {version}: install a newer one, and name it" if is_refused else ""
    found = said(*defined, "-P", f"{ROOT}/cpp/cmake/compiler.cmake")
    assert (words in found, bool(found)) == (True, is_refused)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "-DCURL_NO_CURL_CMAKE=ON -DCURL_INCLUDE_DIR={0} -DCURL_LIBRARY={0}/libcurl.a",
            "needs libcurl 7.87 or newer, and this system has 7.81.0: install a w",
        ),
        (
            "-DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON",
            "needs the libcurl headers. Install them and try again: Debian, Ubuntu: sudo",
        ),
    ],
)
def test_an_old_or_missing_libcurl_gets_a_sentence(
    tmp_path: Path, options: str, words: str
) -> None:
    """Ubuntu 22.04 and RHEL 9 were asked to install the headers that they had."""
    (tmp_path / "curl").mkdir()
    (tmp_path / "curl/curl.h").touch()
    (tmp_path / "curl/curlver.h").write_text('#define LIBCURL_VERSION "7.81.0"\n')
    (tmp_path / "libcurl.a").touch()
    folders = ("-G", "Ninja", "-S", f"{ROOT}/cpp", "-B", f"{tmp_path}/build")
    assert words in said(*folders, "-DTRADINGDATA_TESTS=OFF", *options.format(tmp_path).split())
