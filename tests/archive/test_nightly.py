"""The jobs of the how-to run as cron runs them: by `sh`, without a shell's environment."""

from __future__ import annotations

import datetime as dt
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tradingdata as td
from tradingdata import sandbox

PAGE = Path(__file__).parents[2] / "docs/how-to/nightly-archive.md"
INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
JOB = re.compile(r"^\d+ \d+ \* \* 1-5  (.+)$", re.MULTILINE)


@pytest.mark.skipif(os.name != "posix", reason="cron")
def test_f126_the_jobs_need_no_shell_and_mail_what_is_wrong(tmp_path: Path) -> None:
    """Nothing is printed if all is right; a missing day and a failure are."""
    text = PAGE.read_text("utf-8")
    (script,) = [x for x in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "sys.exit" in x]
    today = str((dt.datetime.now(INDIA) - dt.timedelta(hours=6)).date())
    here = {"/home/me/venv/bin": str(Path(sys.executable).parent), "/home/me": str(tmp_path)}

    def local(words: str, since: str) -> str:
        for path, real in here.items():
            words = words.replace(path, real)
        return words.replace("2026-11-20", since)

    profiles = tmp_path / ".config/tradingdata/profiles.toml"
    profiles.parent.mkdir(parents=True)
    profiles.touch(0o600)
    jobs = JOB.findall(text)
    assert len(jobs) == 4

    def run(job: str, since: str = today) -> str:
        """What cron mails."""
        (tmp_path / "keep.py").write_text(local(script, since), "utf-8")
        done = subprocess.run(
            ["/bin/sh", "-c", local(job, since)],
            env={"HOME": str(tmp_path), "LOGNAME": "me", "PATH": "/usr/bin:/bin"},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    with sandbox.start(accounts=["desk1"], orders=8, day=today) as service:
        profiles.write_text(
            f'[desk1]\nbase_url = "{service.base_url}"\naccess_token = "{service.token("desk1")}"\n'
        )
        assert [run(job) for job in jobs] == [""] * 4
        assert td.Archive(tmp_path / "books", create=False).accounts == ("desk1",)
        early = str(dt.date.fromisoformat(today) - dt.timedelta(7))
        assert run(jobs[0], early).startswith(f"missing: {early[:5]}")
        assert early[:5] in run(jobs[3], early)
    assert "cannot connect" in run(jobs[0])
    assert "cannot connect" in run(jobs[2])
