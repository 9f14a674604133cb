"""The bill of materials of a wheel (CycloneDX 1.6, in the place that PEP 770 names).

`bill.py VERSION PYBIND11 STATIC COMPILER` prints it: the version of the package and of pybind11,
the folder of static libraries or `""`, and the C++ compiler. It lists what the extension contains,
and the C++ library, which may be the system's.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

Part = dict[str, Any]


def part(name: str, version: str, supplier: str, licence: str, **more: Any) -> Part:
    """A component of the bill."""
    purl = more.pop("purl", f"pkg:generic/{quote(name.lower())}@{version}")
    return {
        "type": "library",
        "bom-ref": purl,
        "supplier": {"name": supplier},
        "name": name,
        "version": version,
        "licenses": [{"expression": licence}],
        "purl": purl,
    } | more


def linked(place: str) -> dict[str, Any]:
    """Says whether a part is in the extension (`static`) or a library beside it (`shared`)."""
    return {"properties": [{"name": "tradingdata:linked", "value": place}]}


def static_parts(folder: str) -> list[Part]:
    """The libraries that .ci/platforms/libraries.py built, by their releases."""
    if not folder:
        return []
    parts = []
    for pin in json.loads((Path(folder) / "parts.json").read_text("utf-8")):
        digest = {"alg": "SHA-256", "content": pin["sha256"]}
        release = {"type": "source-distribution", "url": pin["url"], "hashes": [digest]}
        more = linked("static") | {"externalReferences": [release]}
        if "cpe" in pin:
            more["cpe"] = f"cpe:2.3:a:{pin['cpe']}:{pin['version']}:*:*:*:*:*:*:*"
        parts.append(part(pin["name"], pin["version"], pin["supplier"], pin["licence"], **more))
    return parts


def cxx_library(compiler: str) -> list[Part]:
    """The C++ library by the macros that its headers define, of compilers that print them."""
    command = [compiler, *"-std=c++20 -dM -E -x c++ -include version /dev/null".split()]
    try:
        macros = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    defined = dict(re.findall(r"^#define (\w+) (\S+)$", macros, re.MULTILINE))
    if version := defined.get("_LIBCPP_VERSION"):
        number = int(version)
        named = ".".join(map(str, (number // 10000, number // 100 % 100, number % 100)))
        place = "shared" if "__APPLE__" in defined else "static"
        licence = "Apache-2.0 WITH LLVM-exception"
        return [part("libc++", named, "LLVM Project", licence, **linked(place))]
    if release := defined.get("_GLIBCXX_RELEASE"):
        licence = "GPL-3.0-or-later WITH GCC-exception-3.1"
        return [part("libstdc++", release, "GNU Project", licence, **linked("shared"))]
    return []


def bill(version: str, pybind11: str, folder: str, compiler: str) -> dict[str, Any]:
    """The complete bill of materials."""
    purl = f"pkg:pypi/tradingdata@{version}"
    described = part("tradingdata", version, "The tradingdata authors", "MIT", purl=purl)
    headers = part(
        "pybind11", pybind11, "pybind", "BSD-3-Clause", purl=f"pkg:pypi/pybind11@{pybind11}"
    )
    static = static_parts(folder)
    parts = [headers, *static, *(cxx_library(compiler) if static else [])]
    needs: dict[str, list[str]] = {one["bom-ref"]: [] for one in parts}
    needs[purl] = [*needs]
    references = {one["name"]: one["bom-ref"] for one in parts}
    if "libcurl" in references:
        needs[references["libcurl"]] = [references["OpenSSL"]]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": described},
        "components": parts,
        "dependencies": [{"ref": ref, "dependsOn": others} for ref, others in needs.items()],
    }


if __name__ == "__main__":
    print(json.dumps(bill(*sys.argv[1:5]), indent=2))
