"""Where the files of an archive are: a folder of a disk, or object storage."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from .._util.optional_imports import require
from .._util.platform import flush_folder, make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Source = bytes | Callable[[str], None]


class Folder(Protocol):
    """What an archive asks of its storage. Paths are relative to the root."""

    root: str
    renames: bool  # whether a file is written as a draft, and gets its name when it is complete

    def names(self, folder: str) -> Mapping[str, int]:
        """Returns the size of each file in a folder by name; empty if there is no such folder."""

    def read(self, path: str) -> bytes:
        """Returns the content of a file. Raises FileNotFoundError."""

    def create(self, path: str, content: bytes) -> None:
        """Writes a file at once, unless it exists."""

    def put(self, path: str, source: Source) -> tuple[int, str]:
        """Writes and syncs a file, bytes or what a function writes; returns size and SHA-256."""

    def rename(self, old: str, new: str) -> None:
        """Renames a file."""

    def sync(self, folder: str) -> None:
        """Makes the names in a folder outlast a loss of power."""

    def remove(self, path: str) -> None:
        """Removes a file. Raises FileNotFoundError."""

    def age(self, path: str) -> float:
        """Returns the seconds since a file was written. Raises FileNotFoundError."""

    def local(self, path: str) -> str:
        """Returns a path of a local file that has the content of a file."""


class Disk:
    """A folder of a local or shared disk, which only its owner may read."""

    renames = True

    def __init__(self, root: str) -> None:
        self.root = root

    def __reduce__(self) -> tuple[Any, ...]:
        return Disk, (self.root,)

    def _path(self, path: str) -> str:
        return os.path.join(self.root, *path.split("/")) if path else self.root

    def names(self, folder: str) -> Mapping[str, int]:
        """Returns the size of each file in a folder by name; empty if there is no such folder."""
        found: dict[str, int] = {}
        is_log = folder.startswith("log")  # whose sizes nobody needs, and which has many files
        with (
            suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(self._path(folder)) as entries,
        ):
            for entry in entries:
                with suppress(FileNotFoundError):
                    found[entry.name] = 0 if is_log else entry.stat().st_size
        return found

    def read(self, path: str) -> bytes:
        """Returns the content of a file. Raises FileNotFoundError."""
        with open(self._path(path), "rb", buffering=0) as file:
            return file.read()

    def create(self, path: str, content: bytes) -> None:
        """Writes a file at once, unless it exists."""
        draft = f".{path}-{os.getpid()}-{time.monotonic_ns()}.draft"
        self.put(draft, content)
        make_private(self.root)  # also a folder that was there
        try:
            os.link(self._path(draft), self._path(path))
        except FileExistsError:
            pass
        finally:
            self.remove(draft)
        self.sync("")
        flush_folder(os.path.dirname(self.root))

    def put(self, path: str, source: Source) -> tuple[int, str]:
        """Writes and syncs a file, bytes or what a function writes; returns size and SHA-256."""
        target = self._path(path)
        _make_folder(os.path.dirname(target), self.root)
        if isinstance(source, bytes):
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb", buffering=0) as file:
                content = memoryview(source)
                while content:
                    content = content[file.write(content) :]
                os.fsync(file.fileno())
            return len(source), hashlib.sha256(source).hexdigest()
        source(target)
        with open(target, "rb+") as file:
            make_private(target)
            os.fsync(file.fileno())
            written = file.read()
        return len(written), hashlib.sha256(written).hexdigest()

    def rename(self, old: str, new: str) -> None:
        """Renames a file."""
        os.replace(self._path(old), self._path(new))

    def sync(self, folder: str) -> None:
        """Makes the names in a folder outlast a loss of power."""
        flush_folder(self._path(folder) if folder else self.root)

    def remove(self, path: str) -> None:
        """Removes a file. Raises FileNotFoundError."""
        os.remove(self._path(path))

    def age(self, path: str) -> float:
        """Returns the seconds since a file was written. Raises FileNotFoundError."""
        return time.time() - os.stat(self._path(path)).st_mtime

    def local(self, path: str) -> str:
        """Returns a path of a local file that has the content of a file."""
        return self._path(path)


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

    Row files are downloaded once, into a folder of this process.
    """

    renames = False

    def __init__(self, root: str, options: dict[str, Any] | None = None) -> None:
        fsspec = require("fsspec", "s3", "an archive in object storage")
        self.root = root.rstrip("/")
        self.options = options
        self._files, self._base = fsspec.core.url_to_fs(self.root, **(options or {}))
        self._copies = tempfile.mkdtemp(prefix="tradingdata-")
        weakref.finalize(self, shutil.rmtree, self._copies, ignore_errors=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return Objects, (self.root, self.options)

    def _path(self, path: str) -> str:
        return f"{self._base}/{path}"

    def names(self, folder: str) -> Mapping[str, int]:
        """Returns the size of each object in a folder by name; empty if there is none."""
        self._files.invalidate_cache()
        try:
            entries = self._files.ls(self._path(folder), detail=True)
        except FileNotFoundError:
            return {}
        return {
            entry["name"].rstrip("/").rpartition("/")[2]: int(entry["size"] or 0)
            for entry in entries
        }

    def read(self, path: str) -> bytes:
        """Returns the content of an object. Raises FileNotFoundError."""
        return bytes(self._files.cat_file(self._path(path)))

    def create(self, path: str, content: bytes) -> None:
        """Writes an object at once, unless it exists."""
        if not self._files.exists(self._path(path)):
            self._files.pipe_file(self._path(path), content)

    def put(self, path: str, source: Source) -> tuple[int, str]:
        """Writes an object, bytes or what a function writes; returns size and SHA-256."""
        if not isinstance(source, bytes):
            with tempfile.TemporaryDirectory(dir=self._copies) as folder:
                draft = os.path.join(folder, "draft")
                source(draft)
                with open(draft, "rb") as file:
                    source = file.read()
        self._files.pipe_file(self._path(path), source)
        return len(source), hashlib.sha256(source).hexdigest()

    def rename(self, old: str, new: str) -> None:
        """Objects are not renamed."""
        raise NotImplementedError

    def sync(self, folder: str) -> None:
        """Does nothing: what was put is there."""

    def remove(self, path: str) -> None:
        """Removes an object. Raises FileNotFoundError."""
        self._files.rm_file(self._path(path))

    def age(self, path: str) -> float:
        """Returns the seconds since an object was written. Raises FileNotFoundError."""
        return time.time() - float(self._files.modified(self._path(path)).timestamp())

    def local(self, path: str) -> str:
        """Returns the path of a copy of an object."""
        copy = os.path.join(self._copies, *path.split("/")).rstrip("/")
        if path and not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            draft = f"{copy}.{time.monotonic_ns()}"
            with open(draft, "wb") as file:
                file.write(self.read(path))
            os.replace(draft, copy)
        return copy
