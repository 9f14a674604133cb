"""The pytest plugin: fixtures over the sandbox, and nothing for those who do not use them."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

# See filterwarnings in pyproject.toml.
EDITABLE = "ignore:Module already imported so cannot be rewritten; _editable:"


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading all installed plugins takes seconds."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "tradingdata_pytest")


def passes(pytester: pytest.Pytester, source: str, *arguments: str, passed: int = 1) -> str:
    pytester.makepyfile(source)
    strict = ("--strict-markers", "-W", "error", "-W", EDITABLE)
    done = pytester.runpytest_subprocess(*strict, *arguments)
    done.assert_outcomes(passed=passed)
    return done.stdout.str()


def test_the_fixtures_give_a_service_and_its_client(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.path.joinpath("real.toml").write_text('[live]\nbase_url = "https://localhost:9"\n')
    pytester.path.joinpath("real.toml").chmod(0o600)
    monkeypatch.setenv("TRADINGDATA_PROFILES", "real.toml")
    monkeypatch.setenv("TRADINGDATA_PROFILE", "live")
    passes(
        pytester,
        """
        import os
        import pytest
        import tradingdata as td

        def test_client(tradingdata_client):
            assert len(tradingdata_client.trade_book()) > 100

        def test_service(tradingdata_service, tradingdata_client):
            tradingdata_service.fail_next("503", times=None)
            try:
                tradingdata_client.trade_book(timeout=1)
            except td.TradingDataError:
                return
            raise AssertionError

        def test_faults_do_not_reach_the_next_test(tradingdata_client):
            assert len(tradingdata_client.order_book())

        def test_a_client_of_the_code_under_test_reaches_it(tradingdata_service):
            assert td.Client().base_url == tradingdata_service.base_url
            assert len(td.Client().trade_book())

        @pytest.mark.tradingdata_sandbox(accounts=["live", 'a "second" one'])
        def test_a_profile_leads_to_it(tradingdata_service):
            for label in (None, *tradingdata_service.accounts):
                client = td.Client.from_profile(label)
                assert client.base_url == tradingdata_service.base_url
                assert client.account == (label or "live")
                assert len(client.trade_book())
            with td.Accounts(tradingdata_service.accounts) as accounts:
                assert set(accounts.trade_book().column("account")) == set(accounts.labels)

        def test_no_profile_leads_elsewhere(tradingdata_service):
            with pytest.raises(td.ConfigurationError, match="no profile of that name"):
                td.Client.from_profile("live")

        def test_the_environment_is_restored():
            names = [name for name in os.environ if name.startswith("TRADINGDATA_")]
            assert sorted(names) == ["TRADINGDATA_PROFILE", "TRADINGDATA_PROFILES"]
            assert os.environ["TRADINGDATA_PROFILE"] == "live"
        """,
        passed=7,
    )


def test_the_marker_sets_the_arguments_of_the_sandbox(pytester: pytest.Pytester) -> None:
    passes(
        pytester,
        """
        import pytest

        @pytest.mark.tradingdata_sandbox(speed=0, accounts=["desk1", "desk2"])
        def test_morning(tradingdata_service, tradingdata_client):
            assert not len(tradingdata_client.trade_book())
            tradingdata_service.advance_to("10:30")
            assert len(tradingdata_client.trade_book())
            assert len(tradingdata_service.accounts) == 2
        """,
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tradingdata_sandbox(7)
        def test_wrong(tradingdata_service):
            pass
        """
    )
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*takes keyword arguments only*"])


def test_a_run_that_does_not_use_it_imports_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As users meet it: loaded by its entry point."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.delenv("PYTEST_PLUGINS")
    passes(
        pytester,
        """
        import sys

        def test_nothing_is_imported():
            assert "tradingdata_pytest" in sys.modules
            assert [name for name in sys.modules if name.split(".")[0] == "tradingdata"] == []
        """,
    )
