"""The log of an archive as it was read: commits, and the union of their lines."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

Json = dict[str, Any]


class Found(NamedTuple):
    """A row file that is there.

    Attributes:
        path: A path that DuckDB can read.
        ids: The responses that were looked for and are in it.
        whole: Whether it has no others.
    """

    path: str
    ids: list[str]
    whole: bool


class Lost(NamedTuple):
    """A commit whose log file is damaged or missing.

    Attributes:
        commit: Its name.
        problem: What is wrong, in words.
        days: The days that it has, as far as they are known.
        ids: The responses that it has and that can be stored again; None if they are not known.
        files: Its row files.
    """

    commit: str
    problem: str
    days: tuple[str, str]
    ids: frozenset[str] | None
    files: tuple[str, ...]


class Log:
    """The commits that were read; grows as others are written, since none of them changes."""

    def __init__(self) -> None:
        self.commits: dict[str, Json] = {}  # by the path of the log file
        self.damaged: dict[str, str] = {}  # the problem by the path
        self.drafts: set[str] = set()  # commits that were begun
        self._forget()

    def _forget(self) -> None:
        self.generation = secrets.token_hex(8)
        self.lines: dict[str, Json] = {}  # by id
        self.order: list[str] = []  # ids, as they were read
        self.heads: dict[str, Json] = {}  # commits that no other saw, for the next one to name
        self.known: set[str] = set()  # commits, also those that were merged
        self.saw: dict[str, Json] = {}  # commits that others saw
        self.files: dict[tuple[str, str], list[Json]] = {}  # by id and month, the newest last
        self.contents: dict[str, set[str]] = {}  # ids by the path of a row file

    def rebuild(self, paths: Collection[str]) -> None:
        """Forgets everything that is not in these files."""
        kept = sorted(self.commits.keys() & set(paths))
        contents = self.commits
        self._forget()
        self.commits = {path: contents[path] for path in kept}
        for path in kept:
            self._add(self.commits[path])

    def read(self, path: str, content: bytes) -> None:
        """Adds a log file, unless its content is not the one that was written."""
        digest = path.rpartition("-")[2].removesuffix(".json")
        if hashlib.sha256(content).hexdigest()[: len(digest)] != digest:
            self.damaged[path] = f"{path} is not as it was written"
            return
        self.commits[path] = found = json.loads(content)
        self._add(found)

    def _add(self, found: Json) -> None:
        *merged, name = found["commits"]
        self.known.update(found["commits"])
        for saw in found["saw"]:
            self.saw.setdefault(saw["commit"], saw)
        for seen in (*merged, *(saw["commit"] for saw in found["saw"])):
            self.heads.pop(seen, None)
        if name not in self.saw:
            ids = [line["id"] for line in found["lines"] if line["again"]]
            self.heads[name] = {"commit": name, "days": extent_of(found["lines"]), "ids": ids}
        for line in found["lines"]:
            known = self.lines.setdefault(line["id"], line)
            if known is line:
                self.order.append(line["id"])
            elif line["commit"] < known["commit"]:
                known.update(line)
        by_book = {(file["book"], file["month"]): file for file in found["files"]}
        for file in found["files"]:
            self.contents[file["path"]] = set()
        for line in found["lines"]:
            if line["repeats"] is None:
                for month in months_of(line):
                    if file := by_book.get((line["book"], month)):
                        self.contents[file["path"]].add(line["id"])
                        known_files = self.files.setdefault((line["id"], month), [])
                        known_files.append(file)
                        known_files.sort(key=lambda each: str(each["path"].rpartition("/")[2]))

    def merged(self) -> dict[str, str]:
        """Returns the log files that others make superfluous, each with one that is greater."""
        by_month: dict[str, list[str]] = {}
        for path in self.commits:
            if len(self.commits[path]["commits"]) > 1:
                by_month.setdefault(path.split("/")[1], []).append(path)
        contained = {
            path: (
                set(self.commits[path]["commits"]),
                {x["id"] for x in self.commits[path]["lines"]},
            )
            for paths in by_month.values()
            for path in paths
        }
        found = {}
        for path, content in self.commits.items():
            for other in sorted(by_month.get(path.split("/")[1], ())):
                commits, ids = contained[other]
                if (
                    other > path
                    and commits.issuperset(content["commits"])
                    and ids.issuperset(line["id"] for line in content["lines"])
                ):
                    found[path] = other
        return found


def months_of(line: Json) -> set[str]:
    """Returns the months of the rows of a line."""
    return {day[:7] for day, rows in line["days"].items() if rows}


def extent_of(lines: Iterable[Json]) -> tuple[str, str]:
    """Returns the first and the last day of lines."""
    days = [day for line in lines for day in (*line["days"], line["day"])]
    return min(days), max(days)
