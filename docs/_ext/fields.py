"""The `record-fields` directive: a table of a record's fields, read from the compiled module."""

from __future__ import annotations

from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from tradingdata import _core

HEADINGS = ["field", "kind", "meaning"]


class RecordFields(SphinxDirective):
    """The fields of the record named by the argument, in the service's order."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        group = nodes.tgroup(cols=len(HEADINGS))
        group += [nodes.colspec(colwidth=width) for width in (25, 12, 63)]
        head = nodes.thead()
        head += row(nodes.Text(heading) for heading in HEADINGS)
        body = nodes.tbody()
        for name, kind, doc, personal in _core.fields_of(self.arguments[0]):
            note = " (personal: masked)" if personal else ""
            body += row([nodes.literal(text=name), nodes.Text(kind), nodes.Text(doc + note)])
        group += [head, body]
        table = nodes.table()
        table += group
        return [table]


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
    return {"parallel_read_safe": True, "parallel_write_safe": True}
