"""The hosted workflows run the commands of a contributor, completely."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
TEST = (ROOT / ".ci" / "test").read_text("utf-8")


def array(name: str) -> set[str]:
    """The words of a bash array of `.ci/test`, without other arrays in it."""
    (words,) = re.findall(rf"^{name}=\(([^)]*)\)", TEST, re.MULTILINE)
    return set(re.findall(r"(?<!\S)[a-z]+(?!\S)", words))


def test_ci_runs_every_stage_of_all_once() -> None:
    groups = re.findall(r"^ {10}- ([a-z ]+)$", CI, re.MULTILINE)
    stages = " ".join(groups).split()
    assert sorted(stages) == sorted(array("fast_stages") | array("all_stages") | {"floor"})
