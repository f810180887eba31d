"""The figure of error under other light: what it draws are the records of the table."""

import json

import pytest

from t3cen.experiments.schema import TABLE_DIR, get_table
from t3cen.figures import light_error, registry
from t3cen.figures.style import house_style

RESULTS = TABLE_DIR.parents[1] / "docs" / "results"
SETTINGS = registry.configure("light_error", ["scale=laptop", f"outputs={RESULTS}"]).figure


def draw(**changes):
    with house_style():
        return light_error.draw(
            **{key: value for key, value in {**SETTINGS, **changes}.items() if key not in ("_target_", registry.CAPTION)}
        )


@pytest.fixture(scope="module")
def drawn():
    return draw()


def test_lines_are_the_errors_of_the_records(drawn):
    _, numbers = drawn
    sections = [section.title for section in get_table("light").sections]
    assert list(numbers) == [title for title in sections if "few" not in title]
    record = json.loads((RESULTS / "laptop/shapes3d_light_plain/seed1999/result.json").read_text())
    for test, values in numbers["3D Shapes"]["plain"].items():
        assert values[0] == pytest.approx(100 * record["metrics"]["test"][test]["error"])


def test_panels_have_a_line_and_marks_for_each_network(drawn):
    figure, numbers = drawn
    for panel in figure.axes:
        shown = numbers[panel.get_title()]
        assert panel.get_legend_handles_labels()[1] == list(shown)
        assert len(panel.lines) == 2 * len(shown)
        line, marks = panel.lines[:2]
        errors = shown[line.get_label()]
        assert line.get_ydata()[-1] == pytest.approx(sum(errors["gains_3"]) / len(errors["gains_3"]))
        assert marks.get_ydata()[-1] == pytest.approx(sum(errors["camera"]) / len(errors["camera"]))
        assert len({tuple(marks.get_xdata()) for marks in panel.lines[1::2]}) == len(shown)  # none hides another
        assert [tick.get_text() for tick in panel.get_xticklabels()[:5]] == ["0", ".5", "1", "2", "3"]


def test_without_results_it_says_what_trains_them(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no results of 3D Shapes at scale laptop in .* sweep=light"):
        draw(outputs=str(tmp_path))
