"""Directives for the reference of the command line: the output of `--help`, and the exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import re
from unittest import mock

import click
from docutils import nodes
from fields import row, section
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from tradingdata.cli import main
from tradingdata.cli.app import program
from tradingdata.cli.terminal import Code


class CommandHelp(SphinxDirective):
    """The output of `tradingdata --help`."""

    def run(self) -> list[nodes.Node]:
        return [help_of()]


class CommandSections(SphinxDirective):
    """A section with the help of each command, and below a group those of its commands."""

    def run(self) -> list[nodes.Node]:
        context = click.Context(program)
        sections = []
        for name in program.list_commands(context):
            own = getattr(program.get_command(context, name), "commands", {})
            parts = [section(f"{name} {part}", help_of(f"{name} {part}")) for part in own]
            sections.append(section(name, help_of(name), *parts))
        return sections


def help_of(command: str = "") -> nodes.literal_block:
    """The output of a command's `--help`."""
    written = io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS="92"), contextlib.redirect_stdout(written):
        if main([*command.split(), "--help"]):
            raise ValueError(f"no such command: {command}")
    return nodes.literal_block(text=written.getvalue().rstrip(), language="text")


class ExitCodes(SphinxDirective):
    """The exit codes as a table."""

    def run(self) -> list[nodes.Node]:
        group = nodes.tgroup(cols=2)
        group += [nodes.colspec(colwidth=width) for width in (15, 85)]
        head = nodes.thead()
        head += row([nodes.Text("exit code"), nodes.Text("meaning")])
        body = nodes.tbody()
        for code in Code:
            cells = nodes.inline()
            for part in re.split(r"(--\w+)", code.meaning):  # as text, two dashes would become one
                cells += nodes.literal(text=part) if part.startswith("--") else nodes.Text(part)
            body += row([nodes.literal(text=str(code.value)), cells])
        group += [head, body]
        table = nodes.table()
        table += group
        return [table]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("command-help", CommandHelp)
    app.add_directive("command-sections", CommandSections)
    app.add_directive("exit-codes", ExitCodes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
