"""Ends a writer of an archive at any operation on its files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tradingdata.archive import folder

OPERATIONS = ("_write", "_rename", "sync")
CALLS = ("remove", "mkdir", "fsync", "chmod", "scandir")
WRITES = ("_write", "_rename", "sync", "mkdir", "fsync")


class _Os:
    """The module `os`, of which some functions are replaced."""

    def __init__(self, replaced: dict[str, Callable[..., Any]]) -> None:
        self._replaced = replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced.get(name) or getattr(os, name)


def replace(
    patch: pytest.MonkeyPatch, before: Callable[[str], None], names: tuple[str, ...] = ()
) -> None:
    """Has a function called before each operation, with its name; it may raise or exit."""
    wanted = names or (*OPERATIONS, *CALLS)

    def replaced(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            try:
                before(name)
            except BaseException:
                if name == "_write":  # half of the file is there
                    with open(arguments[0], "wb") as file:
                        file.write(b"half")
                raise
            return real(*arguments, **options)

        return call

    for name in set(OPERATIONS) & set(wanted):
        patch.setattr(folder, name, replaced(name, getattr(folder, name)))
    calls = {name: replaced(name, getattr(os, name)) for name in set(CALLS) & set(wanted)}
    patch.setattr(folder, "os", _Os(calls))


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


@contextmanager
def counted_down(
    at: int,
    failure: Callable[[], BaseException],
    names: tuple[str, ...] = (),
    *,
    once: bool = False,
) -> Iterator[list[int]]:
    """Raises something at operation number ``at`` and, unless ``once``, at each one after it.

    None if ``at`` is 0. Yields the number of operations so far, in a list.
    """
    done = [0]

    def before(_: str) -> None:
        done[0] += 1
        if at and (done[0] == at or (done[0] > at and not once)):
            raise failure()

    with pytest.MonkeyPatch.context() as patch:
        replace(patch, before, names)
        yield done
