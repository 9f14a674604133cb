"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, overwrite: bool, drafts: str | None = None
) -> Iterator[str]:
    """Gives a path to write to; on success the file is flushed to disk and takes its name.

    The path lies beside the file, or in the folder ``drafts`` of the same file system.

    Raises FileExistsError where the file is there and ``overwrite`` is not set, and for a device or
    a pipe in any case; of a link, the file that it leads to is replaced. On an error nothing is
    left behind and an older file stays as it was. Only the user may read the file.
    """
    target = os.fsdecode(path)
    if overwrite:
        target = _replaced(target)
    elif os.path.lexists(target):
        raise FileExistsError(f"{target} already exists; pass overwrite=True to replace it")
    folder, name = os.path.split(target)
    suffix = os.path.splitext(name)[1]  # libraries choose a format by it
    draft = f".{os.getpid()}.{os.urandom(4).hex()}{suffix}"
    draft = os.path.join(folder if drafts is None else drafts, draft)
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield draft
        with open(draft, "rb+") as written:
            os.fsync(written.fileno())
        if overwrite:
            os.replace(draft, target)
        else:
            _move_beside(draft, target)
        _flush_names(folder or ".")
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise


def _replaced(target: str) -> str:
    """The file that is to be replaced; a device in its place would be lost to the whole machine."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FileExistsError(f"{target} is no ordinary file, and is not replaced")
    return os.path.realpath(target)


def _flush_names(folder: str) -> None:
    """A file is on the disk under its name only when its folder is."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def _move_beside(draft: str, target: str) -> None:
    """Gives the draft its name, but not that of a file which appeared meanwhile."""
    try:
        os.link(draft, target)  # refuses a name that is taken, unlike a rename
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(f"{target} appeared meanwhile") from None
        os.rename(draft, target)
    else:
        os.unlink(draft)
