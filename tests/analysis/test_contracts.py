"""A contract is exchange, segment, id and expiry, and its trades prove its multiplier."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import TIME
from cases import CALL, KEY_OF_C1, PUT, TWO_CONTRACTS, expiring, made, when

JUST_EXPIRED, OCTOBER = dt.date(2026, 11, 17), dt.date(2026, 10, 27)


@pytest.mark.parametrize(
    "settle",
    [
        {"43210": 0},
        {("43210", JUST_EXPIRED): 0},
        {("NSE", "D", "43210", JUST_EXPIRED): 0},
        lambda row: 0,
    ],
)
def test_an_id_that_is_used_again_is_another_contract(settle: Any) -> None:
    result = td.realised_pnl(TWO_CONTRACTS, settle=settle)
    assert (result.realised, len(result.expired)) == (750.0, 0)
    assert [(lot.quantity, lot.expiry_date) for lot in result.open_lots] == [
        (75, dt.date(2026, 11, 24))
    ]


def test_an_opening_that_expired_closes_no_trade_of_the_next_contract() -> None:
    october = {**KEY_OF_C1, "quantity": 750, "value": 7500.0, **expiring(27, 10, **CALL)}
    november = expiring(24, **CALL)
    trades = td.TradeBook(
        [made(1, "S", 750, 5, "3 10:00", **november), made(2, "B", 750, 6, "3 11:00", **november)]
    )
    with pytest.warns(td.DataWarning, match="expired, not settled: 1"):
        result = td.realised_pnl(trades, [october])
    assert (result.realised, len(result.open_lots)) == (-750.0, 0)
    assert [lot.expiry_date for lot in result.expired] == [OCTOBER]
    settled = td.realised_pnl(
        trades, [october], settle={"43210": 8}, multipliers={("43210", OCTOBER): 1}
    )
    assert settled.realised == -750.0 + 750 * 8 - 7500


def test_two_contracts_of_one_id_are_two_positions() -> None:
    assert sorted(row.net_quantity for row in td.positions(TWO_CONTRACTS)) == [-75, 75]
    lots = [*td.realised_pnl(TWO_CONTRACTS[:1]).open_lots]
    lots += td.realised_pnl(TWO_CONTRACTS[1:]).open_lots
    with pytest.raises(ValueError, match=r"'43210', which means two contracts, .*11-.* and .*11-"):
        td.unrealised_pnl(lots, {"43210": 5.0})
    with pytest.raises(ValueError, match="expiry_date is missing for security_id '43210'"):
        td.positions(td.TradeBook([*TWO_CONTRACTS, made(3, "B", 1, 1, "20 11:00")]))


def test_a_lot_that_gets_its_expiry_keeps_its_multiplier() -> None:
    dated: dict[str, Any] = {**KEY_OF_C1, "quantity": 2, "value": 100.0, **expiring(24, **CALL)}
    dated["multiplier"] = 50
    (row,) = td.unrealised_pnl([dated, {**dated, "expiry_date": None}], {"43210": 2.0})
    assert (row.quantity, row.unrealised) == (4, 200.0)


PAIR = [made(1, "B", 10, 100, "20 10:00"), made(2, "S", 10, 110, "20 11:00")]
LATER = made(3, "B", 75, 5, "20 12:00", **expiring(29, 12, **PUT))


@pytest.mark.parametrize("closed", [24, 17])
def test_a_price_by_id_may_be_that_of_a_closed_contract(closed: int) -> None:
    """Unless that had expired on the day of the price."""
    days = {24: ("20", "20"), 17: ("16", "20")}[closed]
    pair = [row._replace(**expiring(closed, **CALL)) for row in PAIR]
    trades = td.TradeBook(
        [row._replace(**{TIME: when(f"{days[0]} 10:0{at}")}) for at, row in enumerate(pair)]
        + [LATER]
    )
    pnl = td.realised_pnl(trades)
    calculations: list[Any] = [
        lambda prices: td.day_pnl(trades, prices=prices),
        lambda prices: td.unrealised_pnl(pnl, prices),
        lambda prices: td.Ledger(trades).unrealised(prices),
    ]
    for calculate in calculations:
        if closed == 24:
            with pytest.raises(ValueError, match=r"means two contracts, .* give it by \('NSE"):
                calculate({"43210": 5.0})
        else:
            assert calculate({"43210": 5.0}).unrealised == 0.0
        assert calculate({("43210", dt.date(2026, 12, 29)): 6.0}).unrealised == 75.0
        assert calculate({("NSE", "D", "43210", dt.date(2026, 12, 29)): 6}).unrealised == 75.0


def test_a_settlement_by_id_may_be_that_of_a_closed_contract() -> None:
    pair = [row._replace(**expiring(17, **CALL)) for row in PAIR]
    trades = td.TradeBook([*pair, made(3, "B", 75, 5, "20 12:00", **expiring(24, **PUT))])
    after = made(4, "B", 1, 1, "25 10:00", security_id="1")
    both = td.concat([trades, td.TradeBook([after])])
    with pytest.raises(ValueError, match="settle has '43210', which means two contracts"):
        td.realised_pnl(both, settle={"43210": 0})
    found = td.realised_pnl(both, settle={("43210", dt.date(2026, 11, 24)): 0})
    assert found.realised == 100.0 - 375.0


def test_a_multiplier_is_proved_though_the_lot_size_is_another() -> None:
    trades = td.TradeBook([made(5, "B", 1, 10, "20 19:00", 12_500)])
    assert td.day_pnl(trades, prices={"43210": 3.3}).unrealised == -8375.0


def test_a_multiplier_that_nothing_proves_is_not_used() -> None:
    trades = td.TradeBook(
        [made(1, "B", 7, 10, "20 09:20", 93.1), made(2, "S", 3, 10, "20 09:30", 60.0)]
    )
    with pytest.warns(td.DataWarning, match=r"multiplier not proved: 1 .* 93.1 in row 0"):
        day = td.day_pnl(trades, prices={"43210": 12.0})
    assert (day.realised, day[0].unrealised, day[0].open_average) == (20.1, None, None)
    assert "row 0" in day.issues[0].detail
    free = td.TradeBook([made(1, "B", 7, 0, "20 09:20", **expiring(24, **CALL))])
    with pytest.warns(td.DataWarning, match="no trade has a price and a value that prove it"):
        assert td.day_pnl(free, prices={"43210": 12.0}).unrealised is None
    given = td.day_pnl(trades, prices={"43210": 12.0}, multipliers={"43210": 2})
    assert (given.realised, given.unrealised) == (20.1, 4 * 2 * 12 - 53.2)


def test_a_row_without_its_expiry_belongs_to_the_only_contract() -> None:
    option = expiring(24, **CALL)
    trades = td.TradeBook(
        [made(1, "B", 10, 100, "20 10:00", **option), made(2, "S", 10, 115, "20 11:00", **CALL)]
    )
    with pytest.warns(td.DataWarning, match="expiry date missing: 1 .43210 2026-11-24: row 1"):
        result = td.realised_pnl(trades)
    assert (result.realised, len(result.open_lots), len(result)) == (150.0, 0, 1)


def test_one_client_under_two_labels_is_two_accounts() -> None:
    fills = [made(1, "B", 1, 100, "20 10:00"), made(2, "S", 1, 105, "20 11:00")]
    losses = [row._replace(txn_type="SB"[row.txn_type == "S"]) for row in fills]
    of_desks = [row._replace(account="desk1") for row in fills]
    of_desks += [row._replace(account="desk2") for row in losses]
    result = td.realised_pnl(td.TradeBook(of_desks))
    assert {row.account: row.realised for row in result} == {"desk1": 5.0, "desk2": -5.0}
    assert result.filter(account="desk1").realised == 5.0
    lot = {**KEY_OF_C1, "quantity": 1, "value": 90.0}
    one = td.TradeBook([fills[1]._replace(account="desk1")])
    assert td.realised_pnl(one, [lot]).realised == 15.0
    both = td.concat([one, td.TradeBook([fills[0]._replace(account="desk2")])])
    with pytest.raises(ValueError, match="no account, but trades of that client have 'desk1', 'd"):
        td.realised_pnl(both, [lot])


def test_lots_of_two_accounts_are_not_one_for_trades_without_a_label() -> None:
    sale = td.TradeBook([made(1, "S", 5, 110, "20 10:00")])
    lot = {**KEY_OF_C1, "quantity": 5}
    lots = [lot | {"account": "a", "value": 500.0}, lot | {"account": "b", "value": 900.0}]
    with pytest.raises(ValueError, match="client 'C1' have the accounts 'a', 'b', but its trades"):
        td.realised_pnl(sale, lots)
    assert td.realised_pnl(sale, lots[:1]).realised == 50.0
