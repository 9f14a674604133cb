"""The log of an archive as it was read: commits, and the union of their lines by id, by day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

Json = dict[str, Any]
Line = dict[str, Any]


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
    """Commits by the path of their file; `update` adds those that are new."""

    def __init__(self, withdrawn: Iterable[str] = ()) -> None:
        self.commits: dict[str, Json] = {}
        self.damaged: dict[str, str] = {}  # the problem by the path
        self.drafts: set[str] = set()  # commits that were begun
        self.known: set[str] = set()  # commits, also those that were merged
        self.saw: dict[str, Json] = {}  # commits that others saw
        self.lines: dict[str, Line] = {}  # by id
        self.files: dict[tuple[str, str], list[Json]] = {}  # by id and month, the newest last
        self.contents: dict[str, set[str]] = {}  # ids by the path of a row file
        self.withdrawn = set(withdrawn)
        # Of responses and failures that were not withdrawn, by account and book, and day.
        self.days: dict[tuple[str, str], dict[str, list[Line]]] = {}
        # Of responses alone, by the day of their receipt, which trades of a night may not have.
        self.received: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
        self.covered: dict[tuple[str, str], set[int]] = defaultdict(set)
        self.failed: dict[tuple[str, str], set[int]] = defaultdict(set)
        self.since: dict[str, str] = {}
        self.last: dict[str, tuple[str, str]] = {}  # the last day, with the time of its line
        self.retired: dict[str, tuple[str, str]] = {}  # the time of the line, with the day

    def update(self, contents: Mapping[str, Json]) -> Log:
        """Returns this log with the commits that are there, or another one if some are not."""
        new = set(contents) - self.commits.keys()
        lines = [line for path in new for line in contents[path]["lines"]]
        withdrawn = {line["withdraws"] for line in lines if line["source"] == "withdraw"}
        log = self
        if self.commits.keys() - contents.keys() or not withdrawn <= self.withdrawn:
            log, new = Log(self.withdrawn | withdrawn), set(contents)
        for path in sorted(new):
            log._add(path, contents[path])
        return log

    def _add(self, path: str, content: Json) -> None:
        self.commits[path] = content
        self.known.update(content["commits"])
        for saw in content["saw"]:
            self.saw.setdefault(saw["commit"], saw)
        by_book = {(file["book"], file["month"]): file for file in content["files"]}
        self.contents |= {file["path"]: set() for file in content["files"]}
        for line in content["lines"]:
            known = self.lines.setdefault(line["id"], line)
            if known is line:
                self._add_line(line)
            elif line["commit"] < known["commit"]:
                known.update(line)
            for month in months_of(line):
                if file := by_book.get((line["book"], month)):
                    self.contents[file["path"]].add(line["id"])
                    files = self.files.setdefault((line["id"], month), [])
                    files.append(file)
                    files.sort(key=lambda each: str(each["path"].rpartition("/")[2]))

    def _add_line(self, line: Line) -> None:
        account, book, filed = line["account"], line["book"], line["filed"]
        if line["source"] == "retire":
            self.retired[account] = max(self.retired.get(account, ("", "")), (filed, line["day"]))
        if line["source"] not in ("fetch", "add") or line["id"] in self.withdrawn:
            return
        days = self.days.setdefault((account, book), {})
        for day in line["days"]:
            days.setdefault(day, []).append(line)
        day = max(line["days"])
        self.since[account] = min(self.since.get(account, day), day)
        self.last[account] = max(self.last.get(account, ("", "")), (filed, day))
        self.covered[account, book].update(map(_ordinal, line["covered"]))
        if line["error"] is not None:
            self.failed[account, book].update(map(_ordinal, line["days"]))
        else:
            self.received[account, book, line["day"]].append(line)

    def heads(self) -> list[Json]:
        """Returns the commits that no other saw, for the next one to name."""
        merged = {name for each in self.commits.values() for name in each["commits"][:-1]}
        return [
            {
                "commit": name,
                "days": extent_of(each["lines"]),
                "ids": [line["id"] for line in each["lines"] if line["again"]],
            }
            for each in self.commits.values()
            if (name := each["commits"][-1]) not in self.saw and name not in merged
        ]

    def merged(self) -> dict[str, str]:
        """Returns the log files that others make superfluous, each with one that is greater."""
        contents = {
            path: (set(each["commits"]), {line["id"] for line in each["lines"]})
            for path, each in sorted(self.commits.items())
        }
        large = [path for path, (commits, _) in contents.items() if len(commits) > 1]
        found = {}
        for path, (commits, ids) in contents.items():
            for other in large:
                same_month = other.split("/")[1] == path.split("/")[1]
                has_all = commits <= contents[other][0] and ids <= contents[other][1]
                if same_month and other > path and has_all:
                    found[path] = other
        return found


def months_of(line: Line) -> set[str]:
    """Returns the months of the rows that were stored with a line."""
    if line["repeats"] is not None:
        return set()
    return {day[:7] for day, rows in line["days"].items() if rows}


def extent_of(lines: Iterable[Line]) -> tuple[str, str]:
    """Returns the first and the last day of lines."""
    days = [day for line in lines for day in (*line["days"], line["day"])]
    return min(days), max(days)


def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()
