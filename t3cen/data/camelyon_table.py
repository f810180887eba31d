"""The table of Camelyon17-WILDS, checked line by line before wilds reads it."""

from __future__ import annotations

from pathlib import Path

from t3cen.data.errors import DataError, broken

COLUMNS = ("patient", "node", "x_coord", "y_coord", "tumor", "slide", "center", "split")
RANGES = {"tumor": (0, 1), "center": (0, 4), "slide": (0, 49), "split": (0, 1)}
"""Lowest and highest value of the columns that decide a label or a set."""
SLIDES = 10
"""Slides of each hospital: those of hospital h are 10 h to 10 h + 9."""


def check_table(path: Path) -> None:
    """Every line of `metadata.csv` describes a patch of its own, with a label, in a set of the benchmark.

    Raises:
        DataError: it cannot be read, or a column or a hospital is missing, or a value is out of range.
    """
    import pandas

    try:
        table = pandas.read_csv(path, index_col=0, dtype={"patient": "str"})
    except (OSError, ValueError, pandas.errors.ParserError) as error:
        raise broken("camelyon", path, f"cannot be read ({error})", error) from error
    absent = [column for column in COLUMNS if column not in table.columns]
    if absent:
        raise broken("camelyon", path, f"has no column {', '.join(absent)}, only {', '.join(table.columns)}")
    if len(table) == 0:
        raise DataError(f"camelyon: {path} lists no patches")

    def refuse(wrong: pandas.Series, what: str) -> None:
        if wrong.any():
            place = int(wrong.to_numpy().argmax())
            values = ", ".join(f"{column} {table[column].iloc[place]}" for column in COLUMNS)
            raise broken("camelyon", path, f"has {what} in line {place + 2} ({values})")

    for column, (low, high) in RANGES.items():
        numbers = pandas.to_numeric(table[column], errors="coerce")
        refuse(~(numbers.between(low, high) & (numbers % 1 == 0)), f"a {column} that is none of {low} to {high}")
    refuse(table["slide"] // SLIDES != table["center"], "a slide of another hospital than its center")
    refuse(table[["patient", "node", "x_coord", "y_coord"]].isna().any(axis=1), "a patch without a place")
    refuse(table.duplicated(["patient", "node", "x_coord", "y_coord"]), "a patch that was listed before")
    absent_hospitals = sorted(set(range(RANGES["center"][1] + 1)) - set(table["center"]))
    if absent_hospitals:
        raise broken("camelyon", path, f"lists no patch of hospital {', '.join(map(str, absent_hospitals))}")
