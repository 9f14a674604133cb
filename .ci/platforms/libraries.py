"""The libraries that a wheel contains: pinned in libraries.toml, built from their releases.

    libraries.py check       fails if one is out of support, or not the newest of its series
    libraries.py raise       writes the newest releases and their hashes to libraries.toml
    libraries.py build FOLDER                 builds them, static, into FOLDER
    libraries.py build FOLDER linux-aarch64   the same with the compilers of another system:
                             `cc`, `ar` and `ranlib` on the PATH, and CMAKE_TOOLCHAIN_FILE

Needs Python 3.11 and no package, so that it runs in the containers and on the systems where wheels
are built. libcurl gets HTTP and HTTPS, directly and through a proxy, and nothing else. Archives are
kept in build/sources; the variable LIBRARIES names another file than libraries.toml.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
PINS = Path(os.environ.get("LIBRARIES", ROOT / ".ci/platforms/libraries.toml"))
SOURCES = ROOT / "build/sources"
JOBS = str(os.cpu_count() or 2)
NOT_RUN = 77  # where the releases cannot be had, for whoever calls this as a test

Library = dict[str, Any]

OPENSSL_TARGETS = {
    "linux-x86_64": "linux-x86_64",
    "linux-aarch64": "linux-aarch64",
    "macos-arm64": "darwin64-arm64",
    "macos-x86_64": "darwin64-x86_64",
    "windows-x86_64": "mingw64",
}
OPENSSL = """no-shared no-tests no-legacy no-engine no-dso no-module no-comp no-ssl3 no-dtls no-srp
    no-psk no-ui-console no-apps no-docs""".split()
# What the client turns off in each call anyway, and what it does itself (gzip). OpenSSL's
# configuration on the user's machine is written for another OpenSSL, and may name modules of it.
CURL_OFF = """BUILD_SHARED_LIBS BUILD_CURL_EXE BUILD_TESTING BUILD_EXAMPLES BUILD_LIBCURL_DOCS
    BUILD_MISC_DOCS ENABLE_CURL_MANUAL ENABLE_UNIX_SOCKETS CURL_ZLIB CURL_BROTLI CURL_ZSTD
    USE_NGHTTP2 USE_LIBIDN2 CURL_USE_LIBPSL CURL_USE_LIBSSH2 CURL_USE_LIBSSH CURL_USE_GSSAPI
    CURL_USE_PKGCONFIG""".split()
CURL_ON = """BUILD_STATIC_LIBS CURL_USE_OPENSSL OPENSSL_USE_STATIC_LIBS HTTP_ONLY
    ENABLE_THREADED_RESOLVER CURL_DISABLE_ALTSVC CURL_DISABLE_COOKIES CURL_DISABLE_DOH
    CURL_DISABLE_HSTS CURL_DISABLE_NTLM CURL_DISABLE_MIME CURL_DISABLE_WEBSOCKETS
    CURL_DISABLE_IPFS CURL_DISABLE_LIBCURL_OPTION CURL_DISABLE_GETOPTIONS
    CURL_DISABLE_OPENSSL_AUTO_LOAD_CONFIG""".split()


def fail(message: str) -> NoReturn:
    sys.exit(message)


def pins() -> dict[str, Library]:
    return {name: {"name": name} | pin for name, pin in tomllib.loads(PINS.read_text()).items()}


def quietly(*command: object, folder: Path | None = None, **env: str) -> None:
    """Runs a command; shows its output only if it fails."""
    words, env = [str(word) for word in command], os.environ | env
    # Windows would look for a program where this process does, and not in `env`.
    program = shutil.which(words[0], path=env["PATH"]) or words[0]
    done = subprocess.run(
        [program, *words[1:]],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        fail(f"{done.stdout[-8000:]}\n{words[0]} failed: see the lines above")


# The newest releases.


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def newest(library: Library) -> str:
    """The newest release of the series in use, by the tags of its repository."""
    command = ["git", "ls-remote", "--tags", "--refs", library["repository"]]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    if shown.returncode:
        fail(f"{library['name']}'s releases cannot be read: {shown.stderr.strip()}")
    found = re.findall(rf"refs/tags/{library['tags']}$", shown.stdout, re.MULTILINE)
    if not found:
        fail(f"{library['repository']} has no tag like {library['tags']}: correct `tags`")
    return max((".".join(parts) for parts in found), key=numbers)


def faults(library: Library, today: datetime.date) -> Iterator[str]:
    name, version = library["name"], library["version"]
    ends = library.get("ends")
    if ends is not None and ends <= today:
        yield f"{name} {version} lost its support on {ends}: choose a newer series in {PINS.name}"
    if numbers(latest := newest(library)) > numbers(version):
        yield f"{name} {version} is not the newest: run `libraries.py raise` for {latest}"


def check() -> None:
    found = [fault for one in pins().values() for fault in faults(one, datetime.date.today())]
    print(*found or ["Every library is supported, and the newest release of its series."], sep="\n")
    sys.exit(bool(found))


def raise_versions() -> None:
    text = PINS.read_text()
    for library in pins().values():
        latest = newest(library)
        if numbers(latest) <= numbers(library["version"]):
            continue
        with urllib.request.urlopen(library["url"].format(version=latest)) as response:
            digest = hashlib.file_digest(response, "sha256").hexdigest()
        text = text.replace(library["sha256"], digest)
        section = re.compile(rf'(\[{library["name"]}\]\nversion = )"[^"]+"')
        text = section.sub(rf'\g<1>"{latest}"', text)
        print(f"{library['name']} {library['version']} -> {latest}")
    PINS.write_text(text)


# Building.


def download(library: Library, archive: Path) -> None:
    """Fetches the release, from the Debian mirror of apt if need be."""
    version = library["version"]
    try:
        with urllib.request.urlopen(library["url"].format(version=version), timeout=60) as response:
            archive.write_bytes(response.read())
            return
    except OSError as error:
        problem = error
    if "debian" in library and shutil.which("apt-get"):
        site = ("apt-get", "indextargets", "--format", "$(SITE)", "Label: Debian")
        mirrors = subprocess.run(site, capture_output=True, text=True, check=True).stdout.split()
        for mirror in sorted(set(mirrors)):
            address = f"{mirror}/pool/main/{library['debian'].format(version=version)}"
            helper = ["/usr/lib/apt/apt-helper", "download-file", address, str(archive)]
            if subprocess.run(helper, capture_output=True, check=False).returncode == 0:
                return
    print(
        f"not run: {library['name']} {version} cannot be downloaded here ({problem}): put "
        f"{archive.name} into {archive.parent}"
    )
    sys.exit(NOT_RUN)


def source(library: Library, work: Path) -> Path:
    """The unpacked release."""
    url = library["url"].format(version=library["version"])
    archive = SOURCES / f"{library['name']}-{url.rpartition('/')[2]}"
    archive.parent.mkdir(parents=True, exist_ok=True)
    if not archive.exists():
        download(library, archive)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found not in (library["sha256"], library.get("debian_sha256")):
        archive.unlink()
        fail(f"{archive.name} has the SHA-256 {found}, and {PINS.name} names {library['sha256']}")
    folder = work / str(library["name"])
    shutil.unpack_archive(archive, folder, filter="data")
    return next(folder.iterdir())


def visual_studio() -> dict[str, str]:
    """The variables with which a program finds Visual Studio's compiler."""
    programs = os.environ["PROGRAMFILES(X86)"]
    where = [f"{programs}/Microsoft Visual Studio/Installer/vswhere.exe", "-latest"]
    options = ["-products", "*", "-property", "installationPath"]
    place = subprocess.check_output([*where, *options], text=True).strip()
    batch = f'"{place}/VC/Auxiliary/Build/vcvars64.bat" >nul && set'
    shown = subprocess.check_output(batch, shell=True, text=True)
    found = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    found = {name.upper(): value for name, value in found.items()}
    # That of Git for Windows, which may be first on the path, writes paths as on Unix.
    return found | {"PATH": rf"C:\Strawberry\perl\bin;{found['PATH']}"}


class Build:
    """The build of the libraries for one system."""

    def __init__(self, prefix: Path, system: str) -> None:
        self.prefix, self.system, self.work = prefix, system, prefix / "work"
        self.shown = prefix.as_posix()  # in CMake a backslash is an escape
        self.windows = system.startswith("windows")
        self.msvc = sys.platform == "win32"
        self.flags = [] if self.windows else ["-fPIC"]
        self.flags += "-fvisibility=hidden -ffunction-sections -fdata-sections".split()

    def cmake(self, top: Path, *options: str) -> None:
        build = self.work / f"build-{top.name}"
        usual = ["BUILD_TYPE=Release", "POSITION_INDEPENDENT_CODE=ON", "INSTALL_LIBDIR=lib"]
        usual.append(f"INSTALL_PREFIX={self.shown}")
        quietly("cmake", "-S", top, "-B", build, *(f"-DCMAKE_{one}" for one in usual), *options)
        install = ("--config", "Release", "--target", "install", "-j", JOBS)
        quietly("cmake", "--build", build, *install)

    def openssl(self, top: Path) -> None:
        if self.msvc:
            found = visual_studio()
            quietly("perl", "Configure", "VC-WIN64A", "no-asm", *OPENSSL, folder=top, **found)
            quietly("nmake", "build_libs", folder=top, **found)
        else:
            # It records how it was compiled: the compiler's path and the prefix are not from here.
            place = ["--prefix=/usr/local", "--libdir=lib", "--openssldir=/etc/ssl"]
            options = (OPENSSL_TARGETS[self.system], *place, *OPENSSL, *self.flags)
            quietly("perl", "Configure", *options, folder=top, CC="cc", AR="ar", RANLIB="ranlib")
            quietly("make", "-j", JOBS, "build_libs", folder=top)
        for file in [*top.glob("lib*.a"), *top.glob("lib*.lib")]:
            shutil.copy(file, self.prefix / "lib")
        shutil.copytree(top / "include/openssl", self.prefix / "include/openssl")

    def libcurl(self, top: Path) -> None:
        flags = [*self.flags, "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2"]
        flags.append(f"-ffile-prefix-map={top}=curl")
        options = [f"-D{one}=OFF" for one in CURL_OFF] + [f"-D{one}=ON" for one in CURL_ON]
        options += ["-DCURL_CA_BUNDLE=none", "-DCURL_CA_PATH=none"]
        options += [] if self.msvc else [f"-DCMAKE_C_FLAGS={' '.join(flags)}"]
        if self.windows:  # a check for it that clang refuses to compile
            options.append("-DHAVE_IOCTLSOCKET_FIONBIO=ON")
        options.append(f"-DOPENSSL_INCLUDE_DIR={self.shown}/include")
        for part in ("SSL", "CRYPTO"):
            file = f"lib{part.lower()}.{'lib' if self.msvc else 'a'}"
            options.append(f"-DOPENSSL_{part}_LIBRARY={self.shown}/lib/{file}")
        self.cmake(top, *options)

    def isal(self, top: Path) -> None:
        """Its parts for gzip. The assembly is for x86 and needs nasm; elsewhere its C does."""
        assembly = self.system == "linux-x86_64" and shutil.which("nasm")
        arch = [] if assembly else ["arch=noarch"]
        flags = ["CC=cc", "AR=ar", "D=NDEBUG", f"CFLAGS_={' '.join(self.flags)}"]
        parts = ("units=igzip crc", "lib", "isa-l.h")
        quietly("make", "-f", "Makefile.unx", "-j", JOBS, *arch, *flags, *parts, folder=top)
        shutil.copy(top / "bin/isa-l.a", self.prefix / "lib/libisal.a")
        shutil.copytree(top / "include", self.prefix / "include/isa-l")
        shutil.copy(top / "isa-l.h", self.prefix / "include")

    def zlib(self, top: Path) -> None:
        if self.msvc:
            self.cmake(top, "-DZLIB_BUILD_SHARED=OFF", "-DZLIB_BUILD_TESTING=OFF")
            (library,) = (self.prefix / "lib").glob("z*.lib")
            library.rename(library.with_name("zlibstatic.lib"))  # as CMake looks for it
            return
        flags = f"-O2 {' '.join(self.flags)}"
        quietly("./configure", "--static", folder=top, CC="cc", CFLAGS=flags)
        quietly("make", "-j", JOBS, "ARFLAGS=rc", "libz.a", folder=top)
        for file, folder in (("libz.a", "lib"), ("zlib.h", "include"), ("zconf.h", "include")):
            shutil.copy(top / file, self.prefix / folder)

    def describe(self, built: list[Library]) -> None:
        """Writes what the build of the extension must know, and its bill of materials."""
        lines = ["set(OPENSSL_USE_STATIC_LIBS ON)", "set(ZLIB_USE_STATIC_LIBS ON)"]
        if self.system.startswith("macos"):
            lines.pop()
        for name, folder in {
            "CURL_DIR": "/lib/cmake/CURL",
            "OPENSSL_ROOT_DIR": "",
            "ZLIB_ROOT": "",
        }.items():
            lines.append(f'set({name} "${{TRADINGDATA_STATIC_CURL}}{folder}")')
        (self.prefix / "static.cmake").write_text("\n".join([*lines, ""]))
        fields = ("name", "version", "sha256", "supplier", "licence", "cpe")
        parts = [{field: one[field] for field in fields if field in one} for one in built]
        for part, one in zip(parts, built, strict=True):
            part["url"] = one["url"].format(version=one["version"])
        (self.prefix / "parts.json").write_text(json.dumps(parts, indent=2))

    def run(self, *, tests: bool) -> None:
        shutil.rmtree(self.prefix, ignore_errors=True)
        for folder in ("lib", "include", "notices", "work"):
            (self.prefix / folder).mkdir(parents=True)
        gzip = "zlib" if self.msvc else "isa-l"
        names = ["OpenSSL", "libcurl", *([] if self.system.startswith("macos") else [gzip])]
        # The core's tests make the bodies that it inflates.
        for name in [*names, *(["zlib"] if tests else [])]:
            library = pins()[name]
            print(f"Building {name} {library['version']} for {self.system} ...", flush=True)
            top = source(library, self.work)
            getattr(self, name.lower().replace("-", ""))(top)
            if name in names:
                notice = self.prefix / "notices" / f"{name.lower()}.txt"
                shutil.copy(top / library["notice"], notice)
        self.describe([pins()[name] for name in names])
        shutil.rmtree(self.work)


def main(arguments: list[str]) -> None:
    match arguments:
        case ["check"]:
            check()
        case ["raise"]:
            raise_versions()
        case ["build", folder, *system] if len(system) < 2:
            names = {"darwin": "macos", "win32": "windows"}
            machine = platform.machine().replace("AMD64", "x86_64")
            here = f"{names.get(sys.platform, sys.platform)}-{machine}"
            Build(Path(folder).resolve(), *(system or [here])).run(tests=bool(system))
        case _:
            fail(__doc__ or "")


if __name__ == "__main__":
    main(sys.argv[1:])
