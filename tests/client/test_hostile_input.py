"""Files and options that are nested too deeply or have numbers of thousands of digits."""

from __future__ import annotations

from pathlib import Path

import pytest

import tradingdata as td
from command_line import run_here
from tradingdata.cli.terminal import Code

DIGITS = "9" * 5000
DEEP = "[" * 5000 + "]" * 5000
ODD = [DIGITS, f"-{DIGITS}", DEEP, "{a=" * 5000 + "1" + "}" * 5000]


def test_deep_or_long_input_is_an_error_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "odd.toml"
    monkeypatch.setenv("TRADINGDATA_PROFILES", str(file))
    run = run_here(capsysbinary, monkeypatch, {})
    for value in ODD:
        file.touch(0o600)
        file.write_text(f"[desk1]\nbase_url = {value}\n")
        with pytest.raises(td.ConfigurationError, match=r"odd\.toml is not valid TOML: "):
            td.Client.from_profile("desk1")
        ran = run("trades", "--profile", "desk1")
        assert (ran.code, ran.err.count("\n")) == (Code.CONFIGURATION, 1)
        file.write_text(f"[[rate]]\nname = 'x'\npercent = {value}\n")
        with pytest.raises(ValueError, match=r"odd\.toml is not valid TOML: "):
            td.ChargeRate.load(file)


@pytest.mark.parametrize(
    "command",
    [
        ("trades", "--where", f"quantity={DIGITS}"),
        ("trades", "--where", f"traded_price>{DIGITS}"),
        ("trades", "--limit", DIGITS),
        ("trades", "--timeout", DIGITS),
        ("sandbox", "--port", DIGITS),
    ],
)
def test_a_number_of_thousands_of_digits_is_a_wrong_option(
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    pytest.importorskip("click")
    ran = run_here(capsysbinary, monkeypatch, {"TRADINGDATA_BASE_URL": "http://127.0.0.1:9"})(
        *command
    )
    assert ran.code == Code.USAGE
    assert len(ran.err) < 200
    assert "limit (4300 digits)" not in ran.err
