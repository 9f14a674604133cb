"""The commands that show books and stocks, that look after the setup, and that need no account."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from tradingdata._core import printable
from tradingdata._util.validate import words
from tradingdata.books.book import StockList
from tradingdata.client.lookup import TAKES
from tradingdata.display import counted, group
from tradingdata.errors import TradingDataError

from . import parameters
from .output import book_destination
from .parameters import COUNT, Command, Given, client_of, option, received
from .terminal import Code, UsageError, code_of, fitting, for_a_terminal, remark, write_out

_CARE = ("strict", "keep_personal_data")
_book_options = parameters.together(
    parameters.connection, parameters.selection, parameters.book_output, parameters.care
)


@click.command(cls=Command)
@_book_options
def trades(given: Given) -> None:
    """Show the trade book, or save it to a file.

    Examples:
    tradingdata trades
    tradingdata trades -w symbol=INFY,TCS -c symbol,traded_price
    tradingdata trades -o trades.parquet
    tradingdata trades --format csv | head
    """
    _show_book("trade_book", "Trade", given)


@click.command(cls=Command)
@_book_options
def orders(given: Given) -> None:
    """Show the order book, or save it to a file.

    Examples:
    tradingdata orders
    tradingdata orders --where status=Pending
    tradingdata orders -c symbol,reason_description | less
    tradingdata orders -o orders.xlsx --force
    """
    _show_book("order_book", "Order", given)


def _show_book(call: str, record: str, given: Given) -> None:
    destination = book_destination(record, given)
    with client_of(given, *_CARE) as client:
        book = received(getattr(client, call))
    destination.take(book)


@click.command(cls=Command)
@click.argument("query", metavar="QUERY", help="Company name, NSE symbol or BSE code.")
@_book_options
@option("--page-size N", "Number of stocks to request per page.", COUNT)
def search(given: Given) -> None:
    """Search the stocks of NSE and BSE.

    Reads all pages; with --limit, unless --where or --sort need all, only the first ones. Needs no
    token.

    Examples:
    tradingdata search tata
    tradingdata search bank --limit 20
    tradingdata search bank -w "mcaptype=Large Cap" -o b.csv
    """
    destination = book_destination("Stock", given)
    with client_of(given, *_CARE, token=False) as client:
        most = None if given["where"] or given["sort"] else given["limit"]
        options = {"max_items": most, "page_size": given["page_size"]}
        matches = fitting(lambda: client.search(given["query"], **options))
        book = received(matches.all)
    destination.take(book)
    doubt = matches._warning  # `received` silences the warning
    if doubt is not None:
        remark(for_a_terminal(doubt), style="yellow")


_SYMBOL = "Exact NSE symbol or BSE code; or an ISIN, if the service finds it."


@click.command(cls=Command)
@click.argument("identifier", metavar="SYMBOL", help=_SYMBOL)
@parameters.connection
@parameters.book_output
def stock(given: Given) -> None:
    """Show one stock, field by field.

    Needs no token.

    Examples:
    tradingdata stock RELIANCE
    tradingdata stock 500325
    tradingdata stock TCS --format json
    """
    destination = book_destination("Stock", given)
    fitting(lambda: words("SYMBOL", given["identifier"], takes=TAKES))
    with client_of(given, token=False) as client:
        listed = client.stock(given["identifier"])
    destination.take_one(StockList([listed]))


@click.command(cls=Command)
@parameters.connection
def check(given: Given) -> int:
    """Check settings, network and token.

    Prints a line each for settings, search and token. A line that fails says what to do, and the
    exit code is that of the first one. Makes a search and fetches the order book.

    Examples:
    tradingdata check
    tradingdata check --profile desk1
    tradingdata check && python strategy.py
    """
    with client_of(given, token=False) as client:

        def search() -> str:
            client.search("INFY").first(1)
            return "response in MS ms, without a token"

        def token() -> str:
            orders = counted(len(received(client.order_book)), "order")
            return f"accepted: {orders} today, in MS ms"

        account = f", account {client.account}" if client.account else ""
        settings = f"{client.base_url}{account}"
        steps = {"settings": lambda: settings, "search  ": search, "token   ": token}
        codes = [_step(name, work) for name, work in steps.items()]
    return next(filter(None, codes), Code.OK)


def _step(name: str, work: Callable[[], str]) -> Code:
    """Prints what a step returns, or why it failed and what to do; returns its exit code."""
    state, code, started = "ok  ", Code.OK, time.perf_counter()
    try:
        text = work()
        text = text.replace("MS ms", f"{group((time.perf_counter() - started) * 1000, 1)} ms")
    except (TradingDataError, OSError) as error:
        state, code, text = "FAIL", code_of(error), for_a_terminal(error)
    write_out(f"{state}  {name}  {printable(text)}\n".encode())
    return code


@click.command(cls=Command)
def demo(_: Given) -> None:
    """Show the calls on a simulated trading day.

    Needs no account and no network.

    Examples:
    tradingdata demo
    """
    from tradingdata.sandbox.demo import show

    show(sys.stdout)


_SPEED = "Market seconds per second from 09:15 (default: the day is over)."


@click.command(cls=Command)
@option("--port N", "Port to listen on; 0 picks a free one.", int, default=8765)
@option("--seed N", "Seed of the random trading day.", int, default=0)
@option("--day DATE", "The trading day.", default="2026-11-20")
@option("--speed N", _SPEED, float)
@option("--accounts A,B,...", "Labels of the accounts.", default="desk1")
@option("--orders N", "Number of orders of each account in the day.", int, default=200)
def sandbox(given: Given) -> None:
    """Run a simulated service on this computer.

    Runs until Ctrl-C. Paste the two lines that it prints into another terminal to use it there.

    Examples:
    tradingdata sandbox
    tradingdata sandbox --speed 60
    tradingdata sandbox --accounts desk1,desk2 --port 0
    """
    import errno
    import signal

    from tradingdata._util.platform import ending_signals, set_variable
    from tradingdata.sandbox import start

    labels = given["accounts"].split(",")
    try:
        service = fitting(lambda: start(**{**given, "accounts": labels}))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise UsageError(f"--port: {error.strerror}; --port 0 chooses a free one") from None
    # SIGINT too, because shells start background processes with SIGINT ignored.
    for number in ending_signals():
        signal.signal(number, signal.default_int_handler)
    moves = "the day is running" if service.speed else "the day is over"
    try:
        with service:
            print(f"tradingdata sandbox at {service.base_url}")
            print(
                f"seed {service.seed}, market time {service.now}, {moves}; press Ctrl-C to stop\n"
            )
            print(set_variable("TRADINGDATA_BASE_URL", service.base_url))
            print(set_variable("TRADINGDATA_ACCESS_TOKEN", service.token()))
            for label in service.accounts[1:]:
                print(f"# {label}: {service.token(label)}")
            sys.stdout.flush()
            while True:
                # Short waits: a signal that arrives just before a wait would not interrupt it.
                time.sleep(0.5)
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
