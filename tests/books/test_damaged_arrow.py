"""Arrow data as a damaged file or a failing producer gives it: refused, and all of it released."""

from __future__ import annotations

import gc
import io
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import tradingdata as td

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.filterwarnings("ignore::tradingdata.DataWarning"),
]
LONG = b"a text that is longer than a view"


def texts(*ends: int, of: bytes = b"INFYTCS") -> pa.Array:
    """Text behind 32-bit offsets, which may be wrong."""
    buffers = [None, pa.py_buffer(struct.pack(f"<{len(ends)}i", *ends)), pa.py_buffer(of)]
    return pa.Array.from_buffers(pa.string(), len(ends) - 1, buffers)


def long_view(size: int, block: int, offset: int, *, valid: bool = True) -> pa.Array:
    """A view of a short text, and one of a text in the only buffer, which it may leave."""
    views = struct.pack("<i12si4sii", 2, b"EQ", size, LONG[:4], block, offset)
    validity = pa.py_buffer(b"\3" if valid else b"\1")
    buffers = [validity, pa.py_buffer(views), pa.py_buffer(LONG)]
    return pa.Array.from_buffers(pa.string_view(), 2, buffers)


def coded(*codes: int | None, of: Any = ("NSE", "BSE")) -> pa.Array:
    values = of if isinstance(of, pa.Array) else pa.array(of)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), values, safe=False)


def null_row(*, counted: bool) -> Any:
    """A batch of which the second row is null as a whole."""
    column = pa.array([5, 6, 7])
    return pa.StructArray.from_buffers(
        pa.struct({"quantity": column.type}),
        3,
        [pa.py_buffer(b"\5")],
        null_count=1 if counted else -1,
        children=[column],
    )


def damaged_file(array: pa.Array, before: bytes, after: bytes) -> Any:
    """A reader of a stream of a column, in which a number has changed, where it stands last."""
    batch = pa.record_batch({"quantity" if array.type == pa.int64() else "symbol": array})
    written = io.BytesIO()
    with pa.ipc.new_stream(written, batch.schema) as stream:
        stream.write_batch(batch)
    start, found, end = written.getvalue().rpartition(before)
    assert found
    return pa.ipc.open_stream(pa.py_buffer(start.replace(before, after) + after + end))


def more_rows(array: pa.Array) -> Any:
    """A file that says that 777 values were a billion."""
    return damaged_file(array, struct.pack("<q", 777), struct.pack("<q", 10**9))


def failing(after: int) -> Any:
    batch = pa.record_batch({"quantity": [1, 2]})

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(after):
            yield batch
        raise OSError("the disk is gone")

    return pa.RecordBatchReader.from_batches(batch.schema, batches())


def column(array: Any, name: str = "symbol") -> Any:
    return pa.table({name: array})


NOT_UTF8 = texts(0, 4, 7, of=b"I\xffFYTCS")
DAMAGED: dict[str, tuple[Callable[[], Any], str]] = {
    "offsets that decrease": (lambda: column(texts(0, 4, 2, 7)), "symbol has offsets that decr"),
    "fewer values than rows": (
        lambda: more_rows(pa.array([5] * 777)).read_all(),
        "the Arrow data is malformed: .*too small",
    ),
    "fewer values in a reader": (
        lambda: more_rows(pa.array([5] * 777)),
        "with a batch of rows: .*the Arrow data is malformed: .*too small",
    ),
    "a dictionary of fewer values": (
        lambda: more_rows(pa.array([str(i) for i in range(777)]).dictionary_encode()[:1]),
        "the Arrow data is malformed: .*too small",
    ),
    "text beyond its buffer": (
        lambda: damaged_file(
            pa.array(["x" * 777]),
            struct.pack("<ii", 0, 777) + b"x",
            struct.pack("<ii", 0, 10**9) + b"x",
        ),
        "the Arrow data is malformed: .*larger than values",
    ),
    "no UTF-8": (lambda: column(NOT_UTF8), "symbol has text that is not UTF-8"),
    "a cut character": (lambda: column(texts(0, 4, of=b"INF\xe2")), "symbol .* not UTF-8"),
    "no UTF-8, of a number": (lambda: column(NOT_UTF8, "traded_price"), "price .* not UTF-8"),
    "no UTF-8, masked": (lambda: column(NOT_UTF8, "pan_no"), "pan_no .* not UTF-8"),
    "no UTF-8, unknown": (lambda: column(NOT_UTF8, "new"), "new .* not UTF-8"),
    "a code beyond": (lambda: column(coded(0, 2)), "symbol has a code beyond its dictionary"),
    "a code below 0": (lambda: column(coded(0, -1)), "symbol has a code beyond its dictionary"),
    "a size below 0": (lambda: column(long_view(-1, 0, 0)), "symbol has a text of negative size"),
    "a view past the end": (lambda: column(long_view(20, 0, 14)), "outside its buffers"),
    "a view before the start": (lambda: column(long_view(20, 0, -1)), "outside its buffers"),
    "a view of no buffer": (lambda: column(long_view(20, 1, 0)), "outside its buffers"),
    "a view of a buffer below 0": (lambda: column(long_view(20, -1, 0)), "outside its buffers"),
    "a null row": (lambda: null_row(counted=True), "a row of a batch is null"),
    "a null row, F154": (lambda: null_row(counted=False), "a row of a batch is null"),
    "a failure at once": (lambda: failing(0), "with a batch of rows: .*the disk is gone"),
    "a failure later": (lambda: failing(2), "with a batch of rows: .*the disk is gone"),
    "two columns of a name": (
        lambda: pa.table([[1], [2]], names=["quantity", "quantity"]),
        "two columns named quantity",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_refused_and_released(name: str) -> None:
    """F154"""
    make, words = DAMAGED[name]
    gc.collect()
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=words):
        td.TradeBook.from_arrow(make())
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_an_array_is_no_table() -> None:
    for array in (pa.array([1]), pa.chunked_array([[1]])):
        with pytest.raises(TypeError, match="one array, not a table"):
            td.TradeBook.from_arrow(array)


def test_what_a_null_hides_is_not_looked_at() -> None:
    """A view outside its buffers, a code beyond the dictionary, a text that no row has."""
    hidden = pa.Array.from_buffers(
        pa.int8(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(bytes([1, 100]))]
    )
    codes = pa.DictionaryArray.from_arrays(hidden, pa.array(["NSE", "BSE"]), safe=False)
    unused = coded(1, 1, of=texts(0, 3, 6, of=b"N\xffEBSE"))
    null_text = coded(1, 0, of=pa.array([None, "BSE"]))
    sound = long_view(20, 0, 13)
    columns = {
        "series": long_view(-5, 9, -9, valid=False),
        "exchange": codes,
        "segment": unused,
        "product": null_text,
        "symbol": sound,
    }
    book = td.TradeBook.from_arrow(pa.table(columns))
    assert book.column("series") == ["EQ", None]
    assert book.column("exchange") == ["BSE", None]
    assert book.column("segment") == ["BSE", "BSE"]
    assert book.column("product") == ["BSE", None]
    assert book.column("symbol") == ["EQ", LONG[13:33].decode()]
