"""What a record or a folder is called is text wherever it is printed: no link, no script, no picture."""

import os
import re

import pytest

from t3cen.commands import report, tables

HOSTILE = [
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "\\[a](javascript:alert(1))",
    "![a](http://x/y.png)",
    "a\n# b",
]


@pytest.fixture(params=HOSTILE)
def outputs(request, result_file, tmp_path):
    text = request.param
    path = result_file("mnist_h4", 1999, {"in": 900, "shift": 900}, folder=tmp_path / "a", device=text, commit=text,
                       versions={text: text}, data_provenance={"name": text, "source": "files"})  # fmt: skip
    os.rename(path.parents[3], tmp_path / "javascript:alert(1)")
    return tmp_path


def test_markdown_holds_no_link_and_no_html(outputs, capsys):
    assert tables.main(["mnist_degradation", "--outputs", str(outputs)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("- Data", "- Device", "- Code", "#"))]
    assert len(lines) == 4
    assert not re.search(r"(?<!\\)(\\\\)*\[", "".join(lines))
    assert "<" not in "".join(lines)
    assert any(word in "".join(lines) for word in ("alert", "# b", "x/y.png"))


@pytest.mark.parametrize("form", ["html", "report"])
def test_html_holds_no_script_and_no_scheme(form, outputs, capsys):
    if form == "report":
        assert report.main(["--outputs", str(outputs)]) == 0
        page = (outputs / "report.html").read_text()
        assert "javascript%3Aalert" in page
    else:
        assert tables.main(["mnist_degradation", "--format", "html", "--outputs", str(outputs)]) == 0
        page = capsys.readouterr().out
    assert "<script" not in page
    for target in re.findall(r'(?:href|src)="([^"]*)"', page):
        assert target.startswith(("#", "data:image/png;base64,")) or not re.match(r"\s*[a-zA-Z][\w+.-]*:", target)
