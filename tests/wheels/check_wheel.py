"""Looks into wheels: nothing but what belongs there, small, and closed but for one door.

`python tests/wheels/check_wheel.py dist/*.whl` reports faults, and exits with 1 if there are any.
`--static` requires libcurl, OpenSSL and ISA-L or zlib in the extension, and no library beside it. A
wheel for Linux may need no other library than libc, and no newer libc than its name says.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from typing import Any

MOST_BYTES = 3_500_000
DOOR = "PyInit__core"
OURS = re.compile(
    r"""tradingdata(_pytest)?/(.*/)?[\w.-]+\.(py|pyi|typed)
      | tradingdata/sandbox/companies\.csv
      | tradingdata/_core\.[\w.-]+\.(so|pyd)
      | tradingdata\.libs/[\w.+-]+\.(so[\d.]*|dll)          # what auditwheel or delvewheel took in
      | tradingdata\.libs/\.load-order-[\w.-]+
      | tradingdata/\.dylibs/[\w.+-]+\.dylib                 # and delocate
      | tradingdata-[^/]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt
          | licenses/LICENSE|licenses/third-party/[\w+-]+\.txt|sboms/[\w.-]+\.cdx\.json)""",
    re.VERBOSE,
)
SECRETS = {
    "a private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\r?\n[A-Za-z0-9+/]{20}",
    "a bearer token": rb"[Bb]earer [A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{10,}",
    "an API token": rb"\b(ghp_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|AKIA[A-Z0-9]{16})\b",
    "a password in a URL": rb"https?://[\w.-]+:[^\s/@\"'{}<>%*$]{6,}@[\w-]+\.[a-z]{2,}",
}
# Where a builder's files lie; a debugger would want them, a user has no use for them. Debian's own
# libraries all name the same place.
PLACES = (
    rb"/(?!build/reproducible-path/)"
    rb"(?:home|root|Users|tmp|build|project|workspace|var/folders)/[\w./+-]+"
)


def files_that_do_not_belong(names: list[str]) -> Iterator[str]:
    for name in names:
        if not OURS.fullmatch(name):
            yield f"{name} does not belong in a wheel"


def secrets_and_places(name: str, content: bytes) -> Iterator[str]:
    for what, pattern in SECRETS.items():
        if re.search(pattern, content):
            yield f"{name} holds {what}"
    if not name.endswith((".py", ".pyi", "METADATA")):
        for place in sorted(set(re.findall(PLACES, content)))[:5]:
            yield f"{name} names a place of the machine that built it: {place.decode()}"


def exported(library: Path) -> set[str]:
    command = ["nm", "-gU"] if sys.platform == "darwin" else ["nm", "-D", "--defined-only"]
    shown = subprocess.run([*command, library], capture_output=True, text=True, check=True)
    return {line.split()[-1].removeprefix("_") for line in shown.stdout.splitlines() if line}


def needed(library: Path) -> list[str]:
    shown = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", shown.stdout)


# The libraries that manylinux and musllinux promise, as far as the extension uses them.
LIBC = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so[.\d]*|ld-linux.*|libc\.musl-.*")


def beyond_the_name(library: Path, platform: str, carried: set[str]) -> Iterator[str]:
    """What the library needs of the system beyond what the wheel's platform tag promises."""
    for name in needed(library):
        if not LIBC.fullmatch(name) and name not in carried:
            yield f"the extension needs {name}"
    command = ["readelf", "-hVW", str(library)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    machine = "AArch64" if "aarch64" in platform else "X86-64"
    if machine not in shown:
        yield f"the extension is not for {machine}"
    promised = re.search(r"manylinux_2_(\d+)", platform)
    newest = max((int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", shown)), default=0)
    if newest > (int(promised[1]) if promised else 0):
        yield f"the extension needs glibc 2.{newest}, which {platform} does not promise"


def faults_of_extension(
    content: bytes, platform: str, carried: set[str], *, static: bool
) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "_core.so"
        library.write_bytes(content)
        others = sorted(exported(library) - {DOOR, DOOR.lstrip("_")})
        if others:
            yield f"the extension exports {len(others)} names beside {DOOR}: {others[:5]}"
        if "manylinux" in platform or "musllinux" in platform:
            yield from beyond_the_name(library, platform, carried)
        if static:
            for name in needed(library):
                if re.match(r"lib(curl|ssl|crypto|z|isal)\b", name):
                    yield f"the extension needs {name}, which was to be linked in"


# A function of each library, by which an extension that is not stripped shows that it is linked in.
MARKS = {
    "libcurl": "curl_easy_init",
    "OpenSSL": "SSL_CTX_new",
    "isa-l": "isal_inflate",
    "zlib": "inflateInit2_",
    "libc++": "_ZNSt3__122__libcpp_verbose_abortEPKcz",
    "libstdc++": "_ZSt17__throw_bad_allocv",
}


def linkage(part: dict[str, Any]) -> str:
    return next((one["value"] for one in part.get("properties", [])), "headers")


def faults_of_bill(content: bytes, listed: dict[str, str]) -> Iterator[str]:
    """Compares the bill of materials with the symbols and the needed libraries of an ELF file."""
    if not content.startswith(b"\x7fELF"):
        return
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "_core.so"
        library.write_bytes(content)
        shown = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
        defined = {line.split()[-1] for line in shown.splitlines() if re.search(r" [TtWV] ", line)}
        # auditwheel adds a hash to the name of a library that it takes in.
        shared = {re.sub(r"(-[0-9a-f]{8,})?\.so.*", "", name) for name in needed(library)} & {
            *MARKS
        }
    if shared != {name for name, place in listed.items() if place == "shared"}:
        yield f"the bill of materials lists other shared libraries than {sorted(shared)}"
    static = {name for name, place in listed.items() if place == "static"}
    linked = {name for name, mark in MARKS.items() if mark in defined}
    if defined and linked != static:
        yield f"{sorted(linked)} are linked in, and the bill of materials lists {sorted(static)}"


def faults_of_metadata(wheel: zipfile.ZipFile, names: list[str], *, static: bool) -> Iterator[str]:
    def read(end: str) -> str:
        (name,) = (name for name in names if name.endswith(end))
        return wheel.read(name).decode()

    metadata = Parser().parsestr(read(".dist-info/METADATA"))
    for requirement in metadata.get_all("Requires-Dist") or []:
        if "extra ==" not in requirement and not re.search(r"sys_platform == .win32", requirement):
            yield f"the base installation needs {requirement}"
    listed = json.loads(read("/sboms/tradingdata.cdx.json"))["components"]
    parts = {part["name"] for part in listed if linkage(part) != "shared"}
    gzip = "isa-l" if "isa-l" in parts else "zlib"
    wanted = {"pybind11", "libcurl", "OpenSSL"} | ({gzip} if static else set())
    for part in sorted(wanted - parts):
        yield f"the bill of materials lacks {part}"
    (extension,) = (name for name in names if re.match(r"tradingdata/_core\.", name))
    yield from faults_of_bill(
        wheel.read(extension), {part["name"]: linkage(part) for part in listed}
    )
    for part in sorted(wanted | parts):
        if not any(name.endswith(f"/licenses/third-party/{part.lower()}.txt") for name in names):
            yield f"the notice of {part} is missing"


def faults(path: Path, *, static: bool) -> Iterator[str]:
    if static and path.stat().st_size > MOST_BYTES:
        yield f"it has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}"
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith("/")]
        yield from files_that_do_not_belong(names)
        carried = {name.rpartition("/")[2] for name in names if ".libs/" in name}
        if static and carried:
            yield "it carries libraries beside the extension"
        for name in names:
            content = wheel.read(name)
            yield from secrets_and_places(name, content)
            if name.startswith("tradingdata/_core.") and name.endswith(".so"):
                yield from faults_of_extension(content, path.stem, carried, static=static)
        yield from faults_of_metadata(wheel, names, static=static)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("--static", action="store_true")
    options = parser.parse_args()
    bad = 0
    for path in options.wheels:
        found = list(faults(path, static=options.static))
        print(f"{path.name}: {path.stat().st_size:,} bytes, {len(found) or 'no'} faults")
        for fault in found:
            print(f"  {fault}")
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
