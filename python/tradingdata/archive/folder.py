"""Where the files of an archive are: a folder of a disk, or object storage.

Paths are relative to the root. What is missing is a FileNotFoundError.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .._util.optional_imports import require
from .._util.platform import flush_folder, make_private

Source = bytes | Callable[[str], None]  # the content of a file, or what writes it


class Disk:
    """A folder of a local or shared disk, which only its owner may read."""

    renames = True  # a file is written as a draft, and gets its name when it is complete

    def __init__(self, root: str) -> None:
        self.root = root

    def local(self, path: str) -> str:
        """Returns the path of a local file with the content of a file."""
        return os.path.join(self.root, *path.split("/")) if path else self.root

    def names(self, folder: str) -> set[str]:
        """Returns the names in a folder; none if there is no such folder."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return set(os.listdir(self.local(folder)))
        return set()

    def read(self, path: str) -> bytes:
        """Returns the content of a file."""
        with open(self.local(path), "rb", buffering=0) as file:
            return file.read()

    def create(self, path: str, content: bytes) -> None:
        """Writes a file at once, unless it exists."""
        draft = f".{path}-{os.getpid()}-{time.monotonic_ns()}.draft"
        self.put(draft, content)
        make_private(self.root)  # also if the folder existed before
        with suppress(FileExistsError):
            os.link(self.local(draft), self.local(path))
        self.remove(draft)
        self.sync("")
        flush_folder(os.path.dirname(self.root))

    def put(self, path: str, source: Source) -> tuple[int, str]:
        """Writes and syncs a file, bytes or what a function writes; returns size and SHA-256."""
        target = self.local(path)
        _make_folder(os.path.dirname(target), self.root)
        if not isinstance(source, bytes):
            source(target)
            source = self.read(path)
        else:
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(source)
        with open(target, "rb+") as file:
            make_private(target)
            os.fsync(file.fileno())
        return len(source), hashlib.sha256(source).hexdigest()

    def rename(self, old: str, new: str) -> None:
        """Renames a file."""
        os.replace(self.local(old), self.local(new))

    def sync(self, folder: str) -> None:
        """Makes the names in a folder outlast a loss of power."""
        flush_folder(self.local(folder))

    def remove(self, path: str) -> None:
        """Removes a file."""
        os.remove(self.local(path))

    def age(self, path: str) -> float:
        """Returns the seconds since a file was written."""
        return time.time() - os.stat(self.local(path)).st_mtime


def _make_folder(folder: str, root: str) -> None:
    """Makes a folder in which only its owner may do anything, and those above it."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if folder != root or not os.path.isdir(above):
        _make_folder(above, root)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    flush_folder(above)


class Objects:
    """Object storage by fsspec, in which an object is put whole and never renamed.

    Has the methods of `Disk`. Row files are downloaded once, into a folder of this process.
    """

    renames = False

    def __init__(self, root: str, options: dict[str, Any] | None = None) -> None:
        fsspec = require("fsspec", "s3", "an archive in object storage")
        self.root = root.rstrip("/")
        self._files, self._base = fsspec.core.url_to_fs(self.root, **(options or {}))
        self._copies = tempfile.mkdtemp(prefix="tradingdata-")
        weakref.finalize(self, shutil.rmtree, self._copies, ignore_errors=True)

    def local(self, path: str) -> str:  # noqa: D102
        copy = os.path.join(self._copies, *path.split("/")).rstrip("/")
        if path and not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            draft = f"{copy}.{time.monotonic_ns()}"
            with open(draft, "wb") as file:
                file.write(self.read(path))
            os.replace(draft, copy)
        return copy

    def names(self, folder: str) -> set[str]:  # noqa: D102
        self._files.invalidate_cache()
        with suppress(FileNotFoundError):
            names = self._files.ls(f"{self._base}/{folder}", detail=False)
            return {name.rstrip("/").rpartition("/")[2] for name in names}
        return set()

    def read(self, path: str) -> bytes:  # noqa: D102
        return bytes(self._files.cat_file(f"{self._base}/{path}"))

    def create(self, path: str, content: bytes) -> None:  # noqa: D102
        with suppress(FileExistsError):
            self._files.pipe_file(f"{self._base}/{path}", content, mode="create")

    def put(self, path: str, source: Source) -> tuple[int, str]:  # noqa: D102
        if not isinstance(source, bytes):
            with tempfile.TemporaryDirectory(dir=self._copies) as folder:
                draft = os.path.join(folder, "draft")
                source(draft)
                with open(draft, "rb") as file:
                    source = file.read()
        self._files.pipe_file(f"{self._base}/{path}", source)
        return len(source), hashlib.sha256(source).hexdigest()

    def rename(self, old: str, new: str) -> None:  # noqa: D102
        raise NotImplementedError

    def sync(self, folder: str) -> None:
        """Does nothing: what was put is there."""

    def remove(self, path: str) -> None:  # noqa: D102
        self._files.rm_file(f"{self._base}/{path}")

    def age(self, path: str) -> float:  # noqa: D102
        return time.time() - float(self._files.modified(f"{self._base}/{path}").timestamp())
