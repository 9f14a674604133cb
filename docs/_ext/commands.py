"""Directives for the reference of the command line: the output of `--help`, and the exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import re
from unittest import mock

from docutils import nodes
from fields import row
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from tradingdata.cli import main
from tradingdata.cli.exit_codes import MEANINGS


class CommandHelp(SphinxDirective):
    """The output of `tradingdata COMMAND --help`, or of the program itself without an argument."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        words = self.arguments[0].split() if self.arguments else []
        written = io.StringIO()
        with mock.patch.dict(os.environ, COLUMNS="92"), contextlib.redirect_stdout(written):
            if main([*words, "--help"]):
                raise self.error(f"no such command: {self.arguments}")
        return [nodes.literal_block(text=written.getvalue().rstrip(), language="text")]


class ExitCodes(SphinxDirective):
    """The exit codes as a table."""

    def run(self) -> list[nodes.Node]:
        group = nodes.tgroup(cols=2)
        group += [nodes.colspec(colwidth=width) for width in (15, 85)]
        head = nodes.thead()
        head += row([nodes.Text("exit code"), nodes.Text("meaning")])
        body = nodes.tbody()
        for code, meaning in MEANINGS.items():
            cells = nodes.inline()
            for part in re.split(r"(--\w+)", meaning):  # as text, two dashes would become one
                cells += nodes.literal(text=part) if part.startswith("--") else nodes.Text(part)
            body += row([nodes.literal(text=str(code.value)), cells])
        group += [head, body]
        table = nodes.table()
        table += group
        return [table]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("command-help", CommandHelp)
    app.add_directive("exit-codes", ExitCodes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
