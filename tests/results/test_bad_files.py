"""One bad file, from whoever wrote it or whatever damaged it, is named, and everything else is printed as without it."""

import json
import os

import pytest

from t3cen.commands import report, status, tables
from t3cen.experiments import plain_json
from t3cen.experiments.record import BadRecord, read
from t3cen.results import load
from t3cen.results.logs import rows, steps_done
from t3cen.results.records import printable
from t3cen.tables import curves
from t3cen.training.closing import summary
from t3cen.training.cluster import _ticket

DEEP = "[" * 100_000 + "]" * 100_000
BAD = {
    "deep": DEEP,
    "not so deep": "[" * 60 + "]" * 60,
    "huge": '{"schema": ' + "1" * 5000 + "}",
    "huge whole": '{"schema": ' + "1" * 25 + "}",
    "infinite": '{"schema": 1e999}',
    "twice": '{"schema": 1, "schema": 1}',
    "half": '{"schema": 1, "name": "\\ud800"}',
    "torn": '{"schema": 1,',
    "latin": b'{"schema": "\xe9"}',
    "list": "[]",
    "nothing": "",
}


REASONS = {
    "deep": "nested", "not so deep": "nested", "huge": "5000 digits", "huge whole": "25 digits", "infinite": "not finite",
    "twice": "'schema' twice", "half": "half of a character", "torn": "not whole JSON", "latin": "not whole JSON",
    "nothing": "not whole JSON",
}  # fmt: skip


@pytest.mark.parametrize("kind", REASONS)
def test_what_is_not_plain_json_is_refused_with_its_reason(kind, tmp_path):
    put(tmp_path / "a.json", BAD[kind])
    with pytest.raises(plain_json.BadFile, match=REASONS[kind]):
        plain_json.read(tmp_path / "a.json")


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.fast("deep", "half")
@pytest.mark.parametrize("kind", BAD)
def test_tables_report_and_status_name_it_and_go_on(kind, result_file, tmp_path, capsys, monkeypatch):
    status.console.width = 200
    for seed in (1999, 2000):
        result_file("kutomadata_h4", seed, {"test": 700})
    bad = tmp_path / "paper" / "kutomadata_h4" / "seed2001" / "result.json"
    elsewhere = tmp_path / "odd" / "result.json"
    for path in (
        bad, elsewhere,
        tmp_path / "measured" / "step_times.json", tmp_path / "figures" / "a.json",
        tmp_path / "measured" / "training_cost" / "a.json",
        tmp_path / "paper" / "kutomadata_resnet18" / "seed1999" / "failure.json",
    ):  # fmt: skip
        put(path, BAD[kind])
    put(tmp_path / "figures" / "a.png", b"")
    (tmp_path / "figures" / "gone.png").symlink_to(tmp_path / "nowhere")
    [reason, _] = [item.reason for item in load(tmp_path).refused]
    assert tables.main(["all", "--outputs", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "30.00 (0.00)" in printed.out
    assert f"refused {bad}: {reason}" in printed.err
    assert f"refused {elsewhere}: {reason}" in printed.err
    assert status.main(["kutomadata", "--outputs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"failed kutomadata_h4 seed 2001: its result is refused: {reason}"[:100] in out.replace("\n", "")
    assert f"refused {elsewhere}: {reason}"[:100] in out
    assert status.main(["--outputs", str(tmp_path)]) == 0
    assert f"refused {bad}: {reason}"[:100] in capsys.readouterr().out
    assert report.main(["--outputs", str(tmp_path)]) == 0
    assert "2 results, 2 refused" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "odd/result.json: " in page
    assert "paper/kutomadata_h4/seed2001/result.json: " in page


@pytest.mark.parametrize("nothing", [False, True])
def test_a_record_without_what_it_may_lack_is_printed(nothing, result_file, tmp_path, capsys):
    for seed in (1999, 2000):
        path = result_file("kutomadata_h4", seed, {"test": 700})
        content = json.loads(path.read_text())
        for key in ("parameters", "macs", "wall_seconds", "step_seconds", "device", "commit", "dirty", "overrides", "finished"):
            del content[key]
            content |= {key: None} if nothing else {}
        path.write_text(json.dumps(content))
        assert "trained in 0:00:00" in summary(read(path))
    assert tables.main(["kutomadata", "--outputs", str(tmp_path)]) == 0
    assert "30.00 (0.00)" in capsys.readouterr().out
    assert status.main(["kutomadata", "--outputs", str(tmp_path)]) == 0
    assert report.main(["--outputs", str(tmp_path)]) == 0
    assert "2 results" in capsys.readouterr().out
    assert "30.00" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe", "cannot be read"),
        (b"step,train/loss\n0,1.0\n1,\x00\n", ""),
        (b"step,train/loss\n" + b'0,"' + b"x" * 200_000 + b'"\n', "cannot be read"),
        (b"step,train/loss\n\xc2\xb2,1\n" + b"9" * 5000 + b",1\n1,2,3,4\nnan,1\n", ""),
    ],
)
def test_bad_logs_are_left_out(content, told, tmp_path, caplog):
    put(tmp_path / "csv" / "sitting_0" / "metrics.csv", content)
    put(tmp_path / "csv" / "sitting_1" / "metrics.csv", b"step,train/loss\n4,0.5\n5,nan\n6,0.2")
    assert curves.read(tmp_path)["train/loss"][-1] == (4.0, 0.5)  # the last line is torn
    assert steps_done(tmp_path) == 6
    assert told in caplog.text
    assert bool(told) == ("sitting_0" in caplog.text)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_whole_log_is_read_whole(mark, tmp_path):
    put(tmp_path / "csv" / "sitting_0" / "metrics.csv", mark + "step,a\r\n0,1\r\n1,2\r\n")
    assert list(rows(tmp_path)) == [{"step": "0", "a": "1"}, {"step": "1", "a": "2"}]


@pytest.mark.parametrize("content", ['{"job_id": 3}', '{"job', "[]", b"\xff"])
def test_a_torn_ticket_is_none(content, tmp_path):
    put(tmp_path / "cluster.json", content)
    assert _ticket(tmp_path) is None
    put(tmp_path / "cluster.json", '{"job_id": "3"}')
    assert _ticket(tmp_path) == "3"


@pytest.mark.parametrize(
    "odd", [{"cpu": 1}, {"cpu": {"paper": 1}}, {"cpu": {"paper": {"kutomadata_h4": "1"}}}, {"cpu": {"paper": {"a": -1}}}]
)
def test_odd_step_times_are_left_out(odd, tmp_path, caplog, capsys):
    put(tmp_path / "measured" / "step_times.json", json.dumps({**odd, "gpu": {"paper": {"kutomadata_h4": 1.0}}}))
    assert status.main(["kutomadata", "--outputs", str(tmp_path)]) == 0
    assert "Step times from: gpu." in capsys.readouterr().out
    assert "what it holds of cpu is no" in caplog.text


def test_linked_folders_are_seen_and_links_back_are_not_followed(result_file, tmp_path):
    outputs = tmp_path / "outputs"
    path = result_file("mnist_h4", 1999, {"in": 900}, folder=tmp_path / "disk")
    (outputs / "paper").mkdir(parents=True)
    (outputs / "paper" / "mnist_h4").symlink_to(path.parents[1])
    (path.parents[1] / "back").symlink_to(outputs)
    assert [record.path for record in load(outputs).records] == [outputs / "paper" / "mnist_h4" / "seed1999" / "result.json"]


def test_a_folder_that_cannot_be_looked_into_is_named(result_file, tmp_path, monkeypatch):
    result_file("mnist_h4", 1999, {"in": 900})
    locked, scan = tmp_path / "locked", os.scandir
    locked.mkdir()

    def refuse(folder):
        if folder == locked:
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    results = load(tmp_path)
    assert (len(results.records), [item.path.parent for item in results.refused]) == (1, [locked])


def test_names_that_are_no_text_are_printed_as_escapes(result_file, tmp_path, capsys):
    path = result_file("mnist_h4", 1999, {"in": 900}, epochs=1)
    os.rename(os.fsencode(path.parent), os.fsencode(path.parents[1]) + b"/\xff\x1b[31m")
    assert tables.main(["mnist_degradation", "--outputs", str(tmp_path)]) == 0
    assert report.main(["--outputs", str(tmp_path)]) == 0
    assert status.main(["--outputs", str(tmp_path)]) == 0
    assert r"\udcff\x1b[31m" in (tmp_path / "report.html").read_text()
    assert "\x1b[31m" not in capsys.readouterr().out
    assert printable("a\nb\x1b[1m²–é") == r"a\nb\x1b[1m²–é"


@pytest.mark.fast("a=*", "=")
@pytest.mark.parametrize(
    "change", ["a=${b}", "optimizer.lr=nan", "experiment@x=../../y", "+data={_target_: os.system}", "=", "~"]
)
def test_overrides_that_do_not_compose_make_a_record_of_another_configuration(change, result_file, tmp_path):
    result_file("mnist_h4", 1999, {"in": 900}, overrides=["experiment=mnist_h4", change])
    assert tables.main(["mnist_degradation", "--outputs", str(tmp_path)]) == 0
    assert status.main(["--outputs", str(tmp_path)]) == 0


def test_a_link_to_itself_is_named(tmp_path):
    (tmp_path / "result.json").symlink_to("result.json")
    with pytest.raises(BadRecord, match="cannot be read"):
        read(tmp_path / "result.json")
    assert len(load(tmp_path).refused) == 1
