"""Directives for the records: their types and tables of their fields, from the declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from tradingdata import _core

HEADINGS = ["field", "kind", "meaning"]


class RecordFields(SphinxDirective):
    """A section for each record, with its fields in the service's order."""

    def run(self) -> list[nodes.Node]:
        return [section(record["name"], *described(record)) for record in _core.records()]


class RecordTypes(SphinxDirective):
    """An entry for each record, or with the argument `books` for each book; for `eval-rst`.

    The two books with methods of their own have entries in the page.
    """

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        lines = []
        for record in _core.records():
            name = record["book"] if self.arguments else record["name"]
            if name in ("TradeBook", "OrderBook"):
                continue
            lines += [f".. autoclass:: tradingdata.{name}", "   :no-members:", ""]
            if self.arguments:
                rows = f"its rows are :class:`tradingdata.{record['name']}`."
                lines += [f"   Its methods are those of :class:`tradingdata.TradeBook`; {rows}", ""]
        parent = nodes.container()
        self.state.nested_parse(StringList(lines, "declared records"), 0, parent)
        return parent.children


def described(record: dict[str, Any]) -> list[nodes.Node]:
    """The title of a record and the table of its fields."""
    group = nodes.tgroup(cols=len(HEADINGS))
    group += [nodes.colspec(colwidth=width) for width in (25, 12, 63)]
    head = nodes.thead()
    head += row(nodes.Text(heading) for heading in HEADINGS)
    body = nodes.tbody()
    for field in record["fields"]:
        marks = [trait for trait in ("personal", "optional", "local") if field[trait]]
        note = f" ({', '.join(marks)})" if marks else ""
        cells = nodes.Text(field["kind"]), nodes.Text(field["doc"] + note)
        body += row([nodes.literal(text=field["name"]), *cells])
    group += [head, body]
    table = nodes.table()
    table += group
    return [nodes.paragraph(text=f"{record['title']}."), table]


def section(title: str, *content: nodes.Node) -> nodes.section:
    """A section of the page, with its heading."""
    made = nodes.section(ids=[nodes.make_id(title)], names=[title.lower()])
    made += nodes.title(text=title)
    made += content
    return made


def row(cells: Iterable[nodes.Node]) -> nodes.row:
    made = nodes.row()
    for cell in cells:
        entry = nodes.entry()
        paragraph = nodes.paragraph()
        paragraph += cell
        entry += paragraph
        made += entry
    return made


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("record-fields", RecordFields)
    app.add_directive("record-types", RecordTypes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
