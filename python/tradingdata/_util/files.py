"""Atomic file writes, and files that other users must not be able to read."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from ..errors import ConfigurationError
from . import platform, validate

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[str]:
    """Yields a temporary path; on success its file is flushed to disk and renamed to ``path``.

    The temporary file is created beside the target and is readable only by the user. On an error
    it is removed, and an existing target remains unchanged. A symbolic link is followed, so the
    file that it points to is replaced.

    Raises FileExistsError if the target exists and ``overwrite`` is False, and for a device or a
    pipe in any case.
    """
    target = target_of(path, overwrite=overwrite)
    folder, name = os.path.split(target)
    suffix = os.path.splitext(name)[1]  # some libraries derive the file format from it
    draft = os.path.join(folder, f".{os.getpid()}.{os.urandom(4).hex()}{suffix}")
    try:
        platform.create_private_file(draft)
        yield draft
        with open(draft, "rb+") as written:
            os.fsync(written.fileno())
        if overwrite:
            os.replace(draft, target)
        else:
            _move_beside(draft, target)
        platform.flush_folder(folder or ".")
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise


def target_of(path: str | os.PathLike[str], *, overwrite: bool) -> str:
    """Returns the file that ``whole_file`` would write; raises as it does."""
    target = validate.path("path", path)
    if validate.flag("overwrite", overwrite):
        return _replaced(target)
    if os.path.lexists(target):
        raise FileExistsError(f"{target} already exists; pass overwrite=True to replace it")
    return target


def _replaced(target: str) -> str:
    """Returns the file to replace; renaming over a device would remove it for every program."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FileExistsError(f"{target} is not a regular file: choose another path")
    return os.path.realpath(target)


def _move_beside(draft: str, target: str) -> None:
    """Renames the draft unless the target has appeared meanwhile."""
    try:
        os.link(draft, target)  # unlike a rename, fails if the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(
                f"{target} was created by another program: pass overwrite=True to replace it"
            ) from None
        os.rename(draft, target)
    else:
        os.unlink(draft)


def require_private(file: IO[bytes], path: str) -> None:
    """Raises ConfigurationError if other users can read an open file."""
    if not platform.is_private(file):
        raise ConfigurationError(
            f"other users can read {path}, which may contain tokens: "
            f"run `{platform.privacy_command(path)}`"
        )
