"""Books, records and results as HTML, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

from .text import ENDS, Ends, Shown, counted, for_a_file, group, issue_lines, set_fields, tone_of
from .view import VIEWS, View

# Rules use classes, because a style in each cell would be most of the output. Greys are half of the
# page's text colour, and the colours of statuses are mixed with it, for contrast on light and dark
# pages. A notebook's own stripes and hover effects remain. Naming the class twice takes precedence
# over Jupyter's rule that aligns every cell to the right.
_STYLE = """<style>
.td-book{overflow-x:auto;margin:.3em 0}
.td-book table{border-collapse:collapse;border:0;margin:.3em 0;font-variant-numeric:tabular-nums}
.td-book.td-book table td,.td-book.td-book table th{padding:.25em .7em;text-align:left;\
white-space:nowrap;max-width:24em;overflow:hidden;text-overflow:ellipsis}
.td-book.td-book table tbody tr{border-top:1px solid rgba(128,128,128,.35)}
.td-book.td-book table td.n,.td-book.td-book table th.n{text-align:right}
.td-book.td-book table td.q,.td-book.td-book table th.q{opacity:.6;font-weight:normal}
.td-book.td-book table td.e{color:color-mix(in srgb,currentColor 30%,red)}
.td-book.td-book table td.p{color:color-mix(in srgb,currentColor 30%,darkorange)}
.td-book.td-book table td.s{color:color-mix(in srgb,currentColor 30%,forestgreen)}
</style>"""
_LONG = 30  # cells with more characters also have their text as a tooltip


def _cell(tag: str, text: str, kind: str = "", *, title: str = "") -> str:
    """Returns a cell; `kind` has "n" for a number, "q" for grey, "e", "p" or "s" for a status."""
    classes = f' class="{" ".join(kind)}"' if kind else ""
    hint = f' title="{escape(title)}"' if title else ""
    return f"<{tag}{classes}{hint}>{escape(text)}</{tag}>"


def _cell_of(text: str, right: bool = False, tone: str = "") -> str:
    kind = ("n" if right else "") + tone[:1]
    return _cell("td", text, kind, title=text if len(text) > _LONG else "")


def box(title: str, table: str, below: str = "") -> str:
    """Returns the HTML of a display: a title, a table and details below it."""
    return f'{_STYLE}<div class="td-book"><div>{title}</div>{table}{below}</div>'


def _row(shown: Shown, row: tuple[int, list[str]] | None) -> str:
    if row is None:
        width = len(shown.names) + 2
        return f'<tr><td class="q" colspan="{width}">⋮ {group(shown.skipped)} more</td></tr>'
    number, texts = row
    tones = map(tone_of, shown.names, texts)
    values = "".join(map(_cell_of, texts, shown.right, tones))
    return f"<tr>{_cell('th', group(number), 'nq')}{values}<td></td></tr>"


@for_a_file()
def table_html(table: Any, columns: Sequence[str] | None = None, ends: Ends = ENDS) -> str:
    """Returns the HTML of a table: its first and last rows, key columns first, and its issues.

    Rows are numbered; a tooltip names hidden columns.
    """
    title, shown = table._preview(columns, ends)
    title = f"<b>{type(table).__name__}</b>: {escape(title)}"
    if shown is None:
        return box(title, "")
    names = "".join(
        _cell("th", name, "n" if right else "")
        for name, right in zip(shown.names, shown.right, strict=True)
    )
    hidden = f"+{len(shown.hidden)} more" if shown.hidden else ""
    more = _cell("th", hidden, "q", title=", ".join(shown.hidden))
    head = f"<thead><tr><th></th>{names}{more}</tr></thead>"
    body = "".join(_row(shown, row) for row in shown.rows)
    foot = ""
    if shown.total:
        classes = ("n" if right else "" for right in shown.right)
        cells = "".join(map(partial(_cell, "th"), shown.total, classes))
        foot = f"<tfoot><tr><th></th>{cells}<td></td></tr></tfoot>"
    return box(title, f"<table>{head}<tbody>{body}</tbody>{foot}</table>", _issues(table))


def _issues(table: object) -> str:
    lines = issue_lines(table)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<details><summary>{counted(len(lines), 'issue')}</summary><ul>{items}</ul></details>"


@for_a_file()
def record_html(record: Any) -> str:
    """Returns the HTML of a record: the fields that are set, with their meanings as tooltips."""
    kind = type(record)
    rows = [
        _cell("th", name, title=doc) + _cell_of(text, tone=tone_of(name, text))
        for name, text, doc in set_fields(record)
    ]
    noun = VIEWS.get(kind.__name__, View()).noun
    title = f"<b>{kind.__name__}</b>: one {noun}, {counted(len(rows), 'field')} set"
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return box(title, f"<table><tbody>{body}</tbody></table>")
