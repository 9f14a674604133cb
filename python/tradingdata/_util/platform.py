"""The operating system: atomic and private files, locks of files, streams, signals and sockets.

No other module asks which system it runs on.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TextIO

from ..errors import ConfigurationError
from . import validate
from .waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from signal import Signals
    from socket import socket


WINDOWS = sys.platform == "win32"

# The roots that Windows trusts are in a store of its own; elsewhere they are in a file.
HAS_ROOT_STORE = WINDOWS


def require_private(file: IO[str] | IO[bytes], path: str) -> None:
    """Raises ConfigurationError if other users can read an open file.

    Not on Windows, where a user's own folders admit nobody but administrators besides.
    """
    if not WINDOWS and os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(
            f"other users can read {path}, which may contain tokens: run `chmod 600 {path}`"
        )


def make_private(path: str) -> None:
    """Lets only the user read, write and enter a file or folder; see `require_private`."""
    if not WINDOWS:
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)


def copy_mode(path: str, like: str, mask: int = 0o7777) -> None:
    """Gives a file or folder the permissions of another, as far as the system has them."""
    os.chmod(path, stat.S_IMODE(os.stat(like).st_mode) & mask)


def config_folder() -> str:
    """Returns the folder of the user's settings."""
    folder = os.environ.get("APPDATA" if WINDOWS else "XDG_CONFIG_HOME")
    return folder or os.path.join(os.path.expanduser("~"), ".config")


def suspend_aware_clock() -> Callable[[], float]:
    """Returns a steady clock that also runs while the computer is suspended, if there is one."""
    name = {"linux": "CLOCK_BOOTTIME", "darwin": "CLOCK_MONOTONIC"}.get(sys.platform, "")
    number = getattr(time, name, None)
    return time.monotonic if number is None else partial(time.clock_gettime, number)


# What a file system without locks says, and what one says of a lock that is taken.
_NO_LOCKS = {getattr(errno, name, 0) for name in "ENOLCK ENOTSUP EOPNOTSUPP ENOSYS EINVAL".split()}
_POLL = 0.02  # seconds between two attempts
_FAR = 1 << 30  # a byte that Windows locks, which nobody reads
_locked: set[int] = set()  # descriptors of files that this process has locked, or is locking


@contextmanager
def file_lock(path: str, patience: float) -> Iterator[tuple[bool, str]]:
    """Holds a lock that one thread of one process can have at a time.

    The file has the name of the machine and the process while it is locked. A killed process frees
    it, and a forked child does not have it.

    Args:
        path: The file, which is created.
        patience: Seconds to wait for the lock.

    Yields:
        Whether it is held, as on a file system without locks, and what is wrong with it.
    """
    place, process, problem = os.open(path, os.O_RDWR | os.O_CREAT, 0o666), os.getpid(), ""
    _locked.add(place)
    try:
        try:
            is_held = wait_until(lambda wait: _is_locked(place, wait), patience)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            is_held, problem = True, "this file system has no locks: run one writer at a time"
        if is_held:
            owner = os.read(place, 1_000).decode(errors="replace").split()
            host = machine()
            if len(owner) == 2 and owner[0] != host:
                problem = problem or (
                    f"process {owner[1]} on {owner[0]} has not released it: if that is running, "
                    "locks do not reach other machines here, so run one writer at a time"
                )
            _overwrite(place, f"{host} {process}\n".encode())
        try:
            yield is_held, problem
        finally:
            if is_held and process == os.getpid():
                _overwrite(place, b"")
    finally:
        if process == os.getpid():  # a forked child has closed it
            _locked.discard(place)
            _unlock(place)
            os.close(place)


def machine() -> str:
    """Returns the name of this machine, without spaces."""
    from platform import node  # takes a millisecond to import

    return "-".join(node().split()) or "unknown"


def _is_locked(place: int, wait: float) -> bool:
    """Locks a file if it is free, or waits for some seconds at the most; returns whether it is."""
    try:
        _lock(place)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise
        time.sleep(min(wait, _POLL))
        return False
    return True


def _lock(place: int) -> None:
    """Locks a file, or raises OSError if it is locked."""
    if WINDOWS:
        import msvcrt

        os.lseek(place, _FAR, os.SEEK_SET)
        msvcrt.locking(place, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        os.lseek(place, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(place: int) -> None:
    """Unlocks a file, also for a child that was forked just now and has not closed it yet."""
    if not WINDOWS:  # where closing unlocks
        import fcntl

        with suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_UN)


def _overwrite(place: int, content: bytes) -> None:
    os.lseek(place, 0, os.SEEK_SET)
    os.write(place, content)
    os.ftruncate(place, len(content))


def _close_locks() -> None:
    while _locked:
        os.close(_locked.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_locks)


def set_variable(name: str, value: str) -> str:
    """Returns the shell command that sets an environment variable; on Windows, PowerShell's."""
    return f'$env:{name} = "{value}"' if WINDOWS else f"export {name}={value}"


def flush_folder(folder: str) -> None:
    """Flushes a folder to disk, where it can be opened: a crash may lose new names until then."""
    if not WINDOWS:
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def ending_signals() -> list[Signals]:
    """Returns the signals that end a program which runs until it is interrupted."""
    from signal import Signals

    names = ["SIGINT", "SIGTERM", "SIGBREAK"]  # the last is Ctrl-Break, which only Windows has
    return [Signals[name] for name in names if name in Signals.__members__]


def own_port(listener: socket) -> None:
    """Sets the options for a port that is free again at once and that no other program shares."""
    import socket

    # SO_REUSEADDR would let two programs listen on one port of Windows.
    exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    listener.setsockopt(
        socket.SOL_SOCKET, socket.SO_REUSEADDR if exclusive is None else exclusive, 1
    )


def end_connection(connection: socket) -> None:
    """Ends a connection from which another thread may be reading, which then stops."""
    import socket

    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
        if WINDOWS:  # where a thread that waits to read goes on waiting until the close
            socket.close(connection.detach())


def is_closed_pipe(error: OSError) -> bool:
    """Returns whether a failed write means that nobody reads the pipe any more.

    On Windows, C reports an invalid argument for that.
    """
    if error.errno == errno.EPIPE:
        return True
    return WINDOWS and error.errno == errno.EINVAL and error.filename is None


def open_missing_streams() -> None:
    """Opens the standard streams that were closed when the process began; Python has None for them.

    Otherwise their numbers go to the next files and connections, which would receive what other
    code writes to standard error. Standard output is opened for reading, so that writing to it
    fails as it does for every program; messages to standard error are dropped.
    """
    for name, mode, access in (
        ("stdin", "r", os.O_RDONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, access)
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def settle_streams() -> None:
    """Drops what the standard streams refused, so that Python does not fail on it when it exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def accept_every_character(stream: TextIO) -> None:
    """Has a stream escape what its encoding lacks instead of failing: ₹ is in none of Windows'."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def read_toml(file: IO[bytes]) -> dict[str, Any]:
    """Returns the tables of a TOML file.

    Raises ValueError, with the name of the file, if it is not valid or not readable as such.
    """
    import tomllib

    try:
        return tomllib.loads(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8"
    except (ValueError, RecursionError) as error:
        problem = str(error)
    # Here, because a chained error may show the content, in which there may be tokens.
    raise ValueError(f"{file.name} is not valid TOML: {problem}")


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
                copy_mode(draft, target)
            os.replace(draft, target)
        else:
            _move_beside(draft, target)
        flush_folder(folder or ".")
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
