"""Nothing lower imports anything higher: docs/architecture.md draws the rooms of t3cen floor by floor, the imports agree."""

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "t3cen"
ROOMS = {path.stem: path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
del ROOMS["__init__"]


def drawn(text):
    """The floors of the tree in a text, the ground floor first, each a set of rooms."""
    tree = re.search(r"^```text\nt3cen/\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    floors = [re.match(r"[├└]── (\w+(?:, \w+)*)", line)[1].split(", ") for line in tree.splitlines()]
    return [set(floor) for floor in reversed(floors)]


FLOORS = drawn((PROJECT / "docs" / "architecture.md").read_text())


def imported(source):
    """The rooms of t3cen that a text imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: imports are absolute"
            names = [node.module] if node.module != "t3cen" else [f"t3cen.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms = (name.split(".")[1] for name in names if name.startswith("t3cen."))
        yield from (room for room in rooms if room != "__version__")


def files(room):
    return [ROOMS[room]] if ROOMS[room].suffix else sorted(ROOMS[room].rglob("*.py"))


def test_every_room_is_drawn_once():
    assert sorted(room for floor in FLOORS for room in floor) == sorted(ROOMS)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_what_is_below_it(room):
    height = next(height for height, floor in enumerate(FLOORS) if room in floor)
    below = set().union(*FLOORS[:height]) | {room}
    up = {f"{path.relative_to(PROJECT)} imports {other}" for path in files(room) for other in imported(path.read_text())
          if other not in below}  # fmt: skip
    assert up == set()


def test_imports_are_found_wherever_they_are():
    source = "import t3cen.nn as n\ndef f():\n    from t3cen import data\n    if x:\n        from t3cen.tables.html import page\n"
    assert set(imported(source)) == {"nn", "data", "tables"}
