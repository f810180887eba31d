"""Claims of the paper: how a verdict comes about, and that docs/claims.md is what the command prints."""

import re

import pytest

from t3cen.commands.claims import COMMITTED, main
from t3cen.project import PROJECT
from t3cen.results.cells import Cells
from t3cen.results.records import load
from t3cen.tables.claim_checks import Evidence, check
from t3cen.tables.claims import CONTRADICTED, HOLDS, IN_PART, NOT_SEEN, UNTESTABLE, VERDICTS, Claim, judge, read

TABLE = {"table": "kutomadata", "rows": ["resnet18"], "than": ["h4"]}
OTHERWISE = {"table": "kutomadata", "rows": ["h4"], "than": ["resnet18"]}


@pytest.fixture
def evidence(tmp_path, result_file):
    def of(plain, h4):
        for seed, a, b in zip((1999, 2000, 2001), plain, h4, strict=True):
            result_file("kutomadata_resnet18", seed, {"test": a}, scale="laptop", source="synthetic")
            result_file("kutomadata_h4", seed, {"test": b}, scale="laptop", source="synthetic")
        return Evidence(Cells(load(tmp_path), "laptop"), tmp_path)

    return of


@pytest.mark.parametrize(
    ("paper", "here", "h4", "verdict"),
    [
        ([TABLE], [TABLE], (700, 710, 720), HOLDS),
        ([TABLE], [TABLE], (700, 990, 720), NOT_SEEN),  # one seed of the one is better than one of the other
        ([TABLE], [TABLE, OTHERWISE], (700, 710, 720), IN_PART),
        ([OTHERWISE], [OTHERWISE], (999, 999, 999), CONTRADICTED),  # whatever is seen here
        ([TABLE], [], (700, 710, 720), UNTESTABLE),
    ],
)
def test_verdicts(evidence, paper, here, h4, verdict):
    judged = judge(Claim("a claim", "somewhere", tuple(paper), tuple(here)), evidence((980, 970, 960), h4))
    assert judged.verdict == verdict
    assert any("19.13" in line for line in judged.numbers)
    assert ("make reproduce TABLE=kutomadata" in judged.commands) == bool(here)


def test_one_seed_tells_nothing(tmp_path, result_file):
    result_file("kutomadata_resnet18", 1999, {"test": 980}, scale="laptop", source="synthetic")
    result_file("kutomadata_h4", 1999, {"test": 700}, scale="laptop", source="synthetic")
    alone = Evidence(Cells(load(tmp_path), "laptop"), tmp_path)
    assert judge(Claim("a claim", "somewhere", (TABLE,), (TABLE,)), alone).verdict == UNTESTABLE


def test_without_records_nothing_is_tested(tmp_path):
    (tmp_path / "laptop").mkdir()
    nothing = Evidence(Cells(load(tmp_path), "laptop"), tmp_path)
    assert judge(Claim("a claim", "somewhere", (TABLE,), (TABLE,)), nothing).verdict == UNTESTABLE


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"tabel": "x"}, "a check names table, measured"),
        ({"table": "color_shift", "section": "Saturation"}, "no section 'Saturation'"),
        ({"table": "kutomadata", "rows": ["h5"]}, "nothing to compare in kutomadata"),
        ({"statement": "all is well"}, "no statement 'all is well'"),
    ],
)
def test_a_check_that_names_what_there_is_not_is_an_error(what, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        check(what, None)


def test_what_the_papers_own_table_contradicts():
    found = {claim.text: claim for claim in read()}
    [consistently] = [claim for text, claim in found.items() if "consistently exceeds" in text]
    wrong = [one.numbers for one in check(consistently.paper[0], None) if not one.holds]
    assert len(wrong) == 2
    assert "Caltech 101: T³CEN-H4S4 40.02, ResNet-AugMix 35.53" in wrong[0]
    assert "CIFAR-100: T³CEN-L4 52.57, LCER-L3 51.34" in wrong[1]


def test_the_page_is_what_the_command_prints(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert printed == (PROJECT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert [line for line in printed.splitlines() if line.startswith("## ")] == [f"## {one.capitalize()}" for one in VERDICTS]
    assert sorted(int(number) for number in re.findall(r"^\*\*(\d+)\. ", printed, re.M)) == list(range(1, len(read()) + 1))
    assert COMMITTED.is_dir()
