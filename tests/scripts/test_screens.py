"""The screens of the docs have the form of what is really seen."""

import importlib.util

import pytest

from t3cen.project import PROJECT

SPEC = importlib.util.spec_from_file_location("screens", PROJECT / "scripts" / "screens.py")
screens = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(screens)
SLOW = {"run", "sweep", "failing", "mistakes"}


@pytest.fixture(scope="module")
def on_page():
    return screens.on_page(screens.PAGE.read_text(encoding="utf-8"))


def test_every_screen_is_on_the_page(on_page):
    assert set(on_page) == set(screens.SCREENS)
    assert all(on_page.values())


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in screens.SCREENS])
def test_a_screen_is_what_is_seen(name, on_page):
    now = screens.made(name)
    assert screens.alike(on_page[name], now), now


@pytest.mark.parametrize(
    ("page", "now", "same"),
    [
        ("a: 3 of 6 run, 1.5s/run", "a: 1 of 6 run, 12.25s/run", True),
        ("bar:  71%|███▌   | 1/2", "bar: 100%|███████| 2/2", True),
        ("error: no key 'lr'", "error: no key 'lrr'", False),
        ("one\n...\nlast", "one\ntwo\nthree\nlast", True),
        ("one\n...\nlast", "one\ntwo", False),
        ("one", "one\ntwo", False),
    ],
)
def test_words_count_and_numbers_do_not(page, now, same):
    assert screens.alike(page, now) is same


def test_a_screen_is_written_as_it_is_read():
    page = "before\n\n<!-- screen: one -->\n    old\n    screen\n\n<!-- screen: two -->\n    other\n\nafter\n"
    written = screens.with_screen(page, "one", "new\n\n  line   \\1")
    assert screens.on_page(written) == {"one": "new\n\n  line   \\1", "two": "other"}
    assert written.startswith("before\n\n<!-- screen: one -->\n    new\n")
    assert written.endswith("    other\n\nafter\n")


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("50%\r100%\r\nend", "100%\nend"),
        ("long line\rshort", "shortline"),
        ("long line\r\x1b[Kshort", "short"),
        ("outer\n\rinner\x1b[A\rOUTER\n\r     \r\x1b[A\rdone \r\nlast", "done\nlast"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("x" * (screens.WIDTH + 2), "x" * screens.WIDTH + "\nxx"),
    ],
)
def test_a_terminal_shows_what_was_written_last(written, left):
    assert screens.screen_of(written) == left


def test_tables_of_the_page_are_as_they_were_drawn(on_page):
    tables = [[line for line in screen.splitlines() if line[:1] in "┏┃┡│└"] for screen in on_page.values()]
    assert any(tables)
    for lines in tables:
        assert len({len(line) for line in lines}) <= 1
