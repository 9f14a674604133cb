"""The commands that show a book, search, or look up a stock."""

from __future__ import annotations

from typing import Annotated

from tradingdata._util.declarations import BOOK_CALLS, RECORDS
from tradingdata._util.validate import words
from tradingdata.books.book import StockList
from tradingdata.client.lookup import TAKES

from .errors import fitting, for_a_terminal
from .options import BookOutput, Care, Connection, RowOptions, argument, command, option, received
from .output import book_destination
from .terminal import remark

_EXAMPLES = {
    "trades": """
tradingdata trades
tradingdata trades -w symbol=INFY,TCS -c symbol,traded_price
tradingdata trades -o trades.parquet
tradingdata trades --format csv | head
""",
    "orders": """
tradingdata orders
tradingdata orders --where status=Pending
tradingdata orders -c symbol,reason_description | less
tradingdata orders -o orders.xlsx --force
""",
}


def _register_book(call: str, record: str) -> None:
    """Registers the command that shows the book of a call."""

    def show(connection: Connection, only: RowOptions, output: BookOutput, care: Care) -> None:
        destination = book_destination(record, output, only)
        with connection.client(**vars(care)) as client:
            book = received(getattr(client, call))
        destination.take(book)

    show.__doc__ = f"Show the {call.replace('_', ' ')}, or save it to a file."
    name = RECORDS[record]["noun"][1]
    examples = f"tradingdata {name}\ntradingdata {name} -o {name}.parquet"
    command(name, _EXAMPLES.get(name, examples))(show)


for _call in BOOK_CALLS.values():
    _register_book(_call["name"], _call["record"])


@command(
    "search",
    """
tradingdata search tata
tradingdata search bank --limit 20
tradingdata search bank -w "mcaptype=Large Cap" -o b.csv
""",
)
def search(
    query: Annotated[str, argument("Company name, NSE symbol or BSE code.", "QUERY")],
    connection: Connection,
    only: RowOptions,
    output: BookOutput,
    care: Care,
    page_size: Annotated[
        int | None, option("Number of stocks to request per page.", "N", min=1)
    ] = None,
) -> None:
    """Search the stocks of NSE and BSE.

    Reads all pages; with --limit, unless --where or --sort need all, only the first ones. Needs no
    token.
    """
    destination = book_destination("Stock", output, only)
    with connection.client(token=False, **vars(care)) as client:
        most = None if only.where or only.sort else only.limit
        matches = fitting(lambda: client.search(query, max_items=most, page_size=page_size))
        book = received(matches.all)
    destination.take(book)
    doubt = matches._warning  # `received` silences the warning
    if doubt is not None:
        remark(for_a_terminal(doubt), style="yellow")


@command(
    "stock",
    """
tradingdata stock RELIANCE
tradingdata stock 500325
tradingdata stock TCS --format json
""",
)
def stock(
    identifier: Annotated[
        str,
        argument("Exact NSE symbol or BSE code; or an ISIN, if the service finds it.", "SYMBOL"),
    ],
    connection: Connection,
    output: BookOutput,
) -> None:
    """Show one stock, field by field.

    Needs no token.
    """
    destination = book_destination("Stock", output)
    fitting(lambda: words("SYMBOL", identifier, takes=TAKES))
    with connection.client(token=False) as client:
        listed = client.stock(identifier)
    destination.take_one(StockList([listed]))
