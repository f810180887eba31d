"""A printed table as an HTML fragment; templates/table.html.j2 is what it looks like."""

from functools import cache
from pathlib import Path

import jinja2

from t3cen.tables.printed import PrintedTable


@cache
def environment() -> jinja2.Environment:
    """The templates of tables and report, with everything they are given escaped."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    return jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )


def render(table: PrintedTable) -> str:
    """A `<section>` with the table, its provenance and its notes."""
    return environment().get_template("table.html.j2").render(table=table) + "\n"


def page(tables: list[PrintedTable], title: str) -> str:
    """A whole page of tables, without anything from elsewhere."""
    return environment().get_template("page.html.j2").render(tables=[render(table) for table in tables], title=title) + "\n"
