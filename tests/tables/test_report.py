"""The report is one page that needs nothing else, complete, and fits a phone."""

import json
import re
import shutil
import subprocess
from html import escape, unescape
from html.parser import HTMLParser

import pytest

from t3cen.commands.report import main
from t3cen.tables import claims, curves, scatter
from t3cen.tables.report import FARTHEST

VOID = {"meta", "img", "br", "line", "circle", "polyline"}
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c49444154789c6360606000000004000160eb3c0f0000000049454e44ae426082"
)


class Reader(HTMLParser):
    """Collects what a page refers to, and fails on tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.references, self.identifiers = [], [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.references += [values[key] for key in ("href", "src") if key in values]
        self.identifiers += [values["id"]] if "id" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture
def report(result_file, tmp_path, capsys):
    for seed in (1999, 2000):
        for run in ("shapes3d_hue_resnet44", "shapes3d_hue_h4", "camelyon_s4"):
            tests = {"test": 880} if run == "camelyon_s4" else {"A": 1000, "B": 490 + seed % 7, "C": 730}
            path = result_file(run, seed, tests, versions={"torch": "2.9"})
            log = path.parent / "csv" / "sitting_0" / "metrics.csv"
            log.parent.mkdir(parents=True)
            log.write_text("epoch,step,train/loss,validation/validation/error\n0,0,2.0,\n0,10,1.0,\n0,20,,0.25\n0,30,,0.125\n")
    result_file("mnist_h4", 1999, {"in": 980, "shift": 950}, scale="laptop", source="bundled", device="<cpu>")
    result_file("mnist_h5", 1999, {"in": 980, "shift": 950}, epochs=1)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "coverage.png").write_bytes(PIXEL)
    about = {"command": "draw coverage", "commit": "a" * 40, "dirty": False, "data": {"mnist": {"source": "bundled"}},
             "config": {"figure": {"caption": "Look at <the> bars."}}, "numbers": {"runs": "n = 3"}}  # fmt: skip
    (tmp_path / "figures" / "coverage.json").write_text(json.dumps(about))
    assert main(["--outputs", str(tmp_path)]) == 0
    assert "7 results, 1 refused" in capsys.readouterr().out
    return tmp_path / "report.html"


def test_page_is_whole_and_needs_nothing_else(report):
    reader = Reader()
    reader.feed(report.read_text())
    assert reader.open == []
    assert len(reader.identifiers) == len(set(reader.identifiers))
    inside = [r for r in reader.references if r.startswith("#")]
    assert {r[1:] for r in inside} <= set(reader.identifiers)
    embedded = [r for r in reader.references if r.startswith("data:image/png;base64,")]
    assert len(embedded) == 1
    links = [r for r in reader.references if r not in inside and r not in embedded]
    assert len(links) == 7
    assert all((report.parent / link).is_file() for link in links)
    assert not re.search(r"https?://|@import|<script", report.read_text())


def test_page_shows_tables_by_scale_curves_refusals_and_environment(report):
    page = report.read_text()
    assert page.index("Scale paper") < page.index("Scale laptop")
    assert "paper 51.25" in page
    assert page.count('<figure class="card">') == 3 + 4 + 2  # T3CEN-H4 is in three tables more, the plain one in one
    assert "it is partial: 1 of 5 epochs" in page
    assert "&lt;cpu&gt;" in page
    assert "2.9 (6)" in page


def test_page_begins_with_what_is_covered_of_the_paper_and_how_old_it_is(report):
    page = report.read_text()
    summary = page[page.index('id="summary"') : page.index("<nav>")]
    assert re.search(r"Scale paper: <b>10 of \d+</b> numbers", summary)
    assert "6 results, finished 2026-01-01; 0 of them by today&#39;s code" in summary
    row = summary[summary.index("Generalization to hue shift") :].partition("</tr>")[0]
    assert re.findall(r"<td>(.*?)</td>", row) == ["21", "9 files", "–"]
    assert "Camelyon" not in summary.partition("No result yet")[0] or "1 files" in summary
    assert "Ablation: learning rate" in summary.partition("No result yet")[2]  # named in the line, and nowhere else
    assert page.count("Ablation: learning rate") == 1


def test_page_counts_the_claims_and_names_each_with_its_verdict(report):
    page = unescape(report.read_text())
    summary = page[page.index('id="summary"') : page.index("<nav>")]
    read = claims.read()
    line = re.search(rf"Of the paper's {len(read)} claims, at this scale: (.*?)\.</p>", summary)[1]
    counts = {verdict: int(number) for number, verdict in re.findall(r"(\d+) ([^,]+)", line)}
    assert set(counts) == set(claims.VERDICTS)
    assert sum(counts.values()) == len(read)
    rows = re.findall(r'<th scope="row" class="claim">(.*?)</th><td>(.*?)</td>', summary)
    assert [name for name, _ in rows[: len(read)]] == [one.text for one in read]
    assert dict(rows[: len(read)])["Hue shift: better than ResNet44"] == claims.NOT_SEEN  # the errors are equal


def test_page_shows_ours_against_the_papers_and_the_farthest_cells(report):
    page = report.read_text()
    svg = re.search(r'<svg class="scatter".*?</svg>', page, re.DOTALL)[0]
    assert svg.count("<circle") == 10
    assert "Generalization to hue shift · ResNet44 · A/B: ours 50.55, the paper&#39;s 51.25" in svg
    assert 'class="equal"' in svg
    farthest = page[page.index("Farthest from the paper") :].partition("</table>")[0]
    differences = [abs(float(text)) for text in re.findall(r"<td>([+-][\d.]+)", farthest)]
    assert len(differences) == FARTHEST
    assert differences == sorted(differences, reverse=True)


def test_equal_numbers_lie_on_the_line():
    drawn = scatter.svg([scatter.Dot("a", 9.0, 9.0, 0.0, 1.0), scatter.Dot("b", 0.0, 36.0, 0.0, 0.0)])
    points = [tuple(map(float, point)) for point in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    line = dict(re.findall(r'(\w\d)="([\d.]+)"', re.search(r"<line [^>]*equal", drawn)[0]))
    x1, y1, x2, y2 = (float(line[key]) for key in ("x1", "y1", "x2", "y2"))
    off = [abs((y2 - y1) * (x - x1) - (x2 - x1) * (y - y1)) for x, y in points]
    assert off[0] < 200 < off[1]


def test_rows_without_ours_are_named_below_and_left_out(report):
    page = report.read_text()
    table = page[page.index('id="paper-hue_shift"') :].partition("</section>")[0]
    assert '<th scope="row">CEConv-3</th>' not in table
    assert re.search("Not here yet, and left out: .*CEConv-3", table)


def test_figures_say_what_to_see_and_where_they_came_from(report):
    figure = re.search(r'<figure class="drawing">.*?</figure>', report.read_text(), re.DOTALL)[0]
    assert "Look at &lt;the&gt; bars." in figure
    assert "<code>draw coverage</code>; pictures: mnist (bundled); n = 3; commit aaaaaaaaaa" in figure


def test_sittings_join_and_the_later_one_counts(tmp_path):
    for sitting, text in enumerate(("step,train/loss,epoch\n0,4.0,0\n10,3.0,0\n", "step,train/loss,epoch\n10,2.5,0\n20,2.0,0\n")):
        path = tmp_path / "csv" / f"sitting_{sitting}" / "metrics.csv"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    assert curves.read(tmp_path) == {"train/loss": [(0.0, 4.0), (10.0, 2.5), (20.0, 2.0)]}


def test_long_curves_are_averaged_not_sampled():
    thinned = curves.thin([(float(x), float(x % 2)) for x in range(1000)], most=100)
    assert len(thinned) == 100
    assert {y for _, y in thinned} == {0.5}


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_page_fits_the_window(report, width, tmp_path):
    # In a frame, because a headless window has a least width; details opened, because they are what is wide.
    inside = escape(report.read_text().replace("<details>", "<details open>"), quote=True)
    frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{inside}"></iframe>'
    widths = "frames[0].document.documentElement.scrollWidth + ' of ' + frames[0].innerWidth"
    page = tmp_path / "probe.html"
    page.write_text(f'<meta charset="utf-8">{frame}<script>onload = () => {{ document.title = "width " + {widths} }}</script>')
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,1000", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    scroll, inner = re.search(r"<title>width (\d+) of (\d+)", done.stdout).groups()
    assert int(inner) == width
    assert int(scroll) <= width
