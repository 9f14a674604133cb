"""The script of the how-to runs as cron runs it: without a shell's environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tradingdata as td
from tradingdata import sandbox

PAGE = Path(__file__).parents[2] / "docs/how-to/nightly-archive.md"


@pytest.mark.skipif(os.name != "posix", reason="cron")
def test_the_nightly_script_needs_no_shell(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (script,) = [block for block in blocks if block.startswith("import sys")]
    keep = tmp_path / "keep.py"
    keep.write_text(script.replace("/home/me", str(tmp_path)), "utf-8")
    profiles = tmp_path / ".config/tradingdata/profiles.toml"
    profiles.parent.mkdir(parents=True)
    profiles.touch(0o600)
    with sandbox.start(accounts=["desk1"], orders=8) as service:
        profiles.write_text(
            f'[desk1]\nbase_url = "{service.base_url}"\naccess_token = "{service.token("desk1")}"\n'
        )
        done = subprocess.run(
            [sys.executable, str(keep)],
            env={"HOME": str(tmp_path), "LOGNAME": "me", "PATH": "/usr/bin:/bin"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert td.Archive(tmp_path / "books", create=False).accounts == ("desk1",)
