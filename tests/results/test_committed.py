"""The results that are committed under docs/results: whole, of clean code, and the tables beside them are theirs."""

import functools
import html
import re

import pytest

from t3cen.commands import tables
from t3cen.experiments import runs_of
from t3cen.experiments.schema import TABLE_DIR, get_table
from t3cen.results import load as read

ROOT = TABLE_DIR.parents[1]
RESULTS = ROOT / "docs" / "results"
PRINTED = sorted(RESULTS.glob("*.md")) if RESULTS.is_dir() else []
load = functools.cache(read)
TABLES = [path for path in PRINTED if (TABLE_DIR / f"{path.stem}.yaml").exists()]


@pytest.fixture(autouse=True, scope="module")
def records_read_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "load", load)
        yield


def test_every_record_is_whole():
    results = load(RESULTS)
    assert results.records
    assert not results.refused
    assert not [record.path for record in results.records if record.dirty]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_tables_are_of_the_records(path, capsys):
    assert tables.main([path.stem, "--scale", "laptop", "--outputs", str(RESULTS)]) == 0
    assert _lasting(capsys.readouterr().out) == _lasting(path.read_text())


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_of_one_version_of_the_code_and_of_one_source(path):
    names = {run.name for run in runs_of(get_table(path.stem))}
    records = [record for record in load(RESULTS).records if record.name in names]
    for name in names:
        assert len({(record.code, record.provenance, record.setting) for record in records if record.name == name}) <= 1
    assert len({commit for record in records for commit in record.commits}) <= 1


def test_every_record_is_in_a_printed_table():
    printed = {run.name for path in TABLES for run in runs_of(get_table(path.stem))}
    assert {record.name for record in load(RESULTS).records} <= printed


def test_the_page_is_of_the_records_and_of_the_claims():
    page = (RESULTS / "report.html").read_text()
    assert f"from {len(load(RESULTS).records)} results" in page
    counted = re.findall(r"\| \[(.+)\]\(.*\) \| (\d+) \|", (ROOT / "docs" / "claims.md").read_text())
    assert counted
    assert all(f"{count} {verdict}" in html.unescape(page) for verdict, count in counted)
    trained = [path for path in TABLES if get_table(path.stem).kind == "trained"]
    assert all(_first_of_ours(path.read_text()) in page for path in trained)


def test_a_scale_without_results_is_named_with_those_that_have_some(capsys):
    assert tables.main(["hue_shift", "--outputs", str(RESULTS)]) == 0
    assert "no results at scale paper, only at laptop; see --scale" in capsys.readouterr().err
    assert tables.main(["hue_shift", "--scale", "laptop", "--outputs", str(RESULTS)]) == 0
    assert not capsys.readouterr().err


def _first_of_ours(table):
    """The mean and the standard deviation of the first cell that has both."""
    return re.search(r"\d+\.\d+ \(\d+\.\d+\)", table)[0]


def _lasting(printed):
    """All but how old the code of the networks is by now."""
    return [line for line in printed.splitlines() if not line.startswith("- Code: ")]
