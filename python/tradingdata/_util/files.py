"""Atomic file writes, and files that other users must not be able to read."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ..errors import ConfigurationError
from . import platform, validate

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_toml(file: IO[Any]) -> dict[str, Any]:
    """Returns the tables of a TOML file.

    Raises ValueError, with the name of the file, if it is not valid or not readable as such.
    """
    import tomllib

    try:
        return tomllib.loads(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"is not valid TOML: byte {error.start} is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        problem = f"is not valid TOML: {error}"
    except RecursionError:
        problem = "is nested too deeply: a table here has plain values and lists of these"
    except ValueError:  # an integer exceeds Python's limit of digits
        problem = "has a number with thousands of digits"
    raise ValueError(f"{file.name} {problem}")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[str]:
    """Yields a temporary path; on success its file is flushed to disk and renamed to ``path``.

    The temporary file is created beside the target. Only the user may read it, unless it replaces a
    file, whose mode it takes over. On an error it is removed, and an existing target remains
    unchanged. A symbolic link is followed, so the
    file that it points to is replaced.

    Raises FileExistsError if the target exists and ``overwrite`` is False, and for a device or a
    pipe in any case; IsADirectoryError for a folder; FileNotFoundError if its folder is missing.
    """
    target = target_of(path, overwrite=overwrite)
    folder, name = os.path.split(target)
    suffix = os.path.splitext(name)[1]  # some libraries derive the file format from it
    draft = os.path.join(folder, f".{os.getpid()}.{os.urandom(4).hex()}{suffix}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield draft
        with open(draft, "rb+") as written:
            os.fsync(written.fileno())
        if overwrite:
            with suppress(FileNotFoundError):
                platform.copy_mode(draft, target)
        if overwrite:
            os.replace(draft, target)
        else:
            _move_beside(draft, target)
        platform.flush_folder(folder or ".")
    except BaseException as error:
        with suppress(OSError):
            os.unlink(draft)
        if isinstance(error, OSError) and error.errno and error.filename in (None, draft):
            error.filename = target
        raise


def target_of(path: str | os.PathLike[str], *, overwrite: bool) -> str:
    """Returns the file that ``whole_file`` would write; raises as it does."""
    target = validate.path("path", path)
    replace = validate.flag("overwrite", overwrite)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target} is a folder: name a file in it")
    if os.path.exists(target) and not os.path.isfile(target):
        # A rename over a device would remove it for every program.
        raise FileExistsError(f"{target} is not a regular file: choose another path")
    if os.path.lexists(target) and not replace:
        raise FileExistsError(f"{target} already exists: pass `overwrite=True` to replace it")
    try:
        os.stat(folder or ".")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no folder {folder}: create it first") from None
    return os.path.realpath(target) if replace else target


def _move_beside(draft: str, target: str) -> None:
    """Renames the draft unless the target has appeared meanwhile."""
    try:
        os.link(draft, target)  # unlike a rename, fails if the name is taken
    except OSError:  # it is taken, or the file system has no hard links
        target_of(target, overwrite=False)
        os.rename(draft, target)
    else:
        os.unlink(draft)


def require_private(file: IO[Any], path: str) -> None:
    """Raises ConfigurationError if other users can read an open file."""
    if not platform.is_private(file):
        raise ConfigurationError(
            f"other users can read {path}, which may contain tokens: run `chmod 600 {path}`"
        )
