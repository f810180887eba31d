"""The attack on data finds nothing, and finds something where a check is taken away."""

import io
import logging
import pickle
import sys
from pathlib import Path

import pytest
from PIL import Image

SCRIPTS = Path(__file__).parents[2] / "scripts"
KINDS = ("labels", "check", "listed", "flips", "modes", "coco", "pickles", "hidden", "blocks", "downloads", "together", "disk")


@pytest.fixture
def attack(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import attack_data

    return attack_data


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_wrong_is_accepted(attack, kind, tmp_path, capfd):
    found = attack.attack(kind, tmp_path, 8)
    assert found["wrong"] == 0, capfd.readouterr().err
    assert found.total() >= 6


@pytest.mark.slow
def test_noise_is_not_mnist(attack, tmp_path):
    assert attack.attack("noise", tmp_path, 2) == {"refused": 2}


def _without_verification(file):
    return Image.open(file).convert("RGB")


def _anything(unpickler, module, name):
    return pickle.Unpickler(io.BytesIO()).find_class(module, name)


@pytest.mark.fast("labels-*", "coco-*", "flips-*", "downloads-*")
@pytest.mark.parametrize(
    ("kind", "cases", "target", "replacement"),
    [
        ("labels", 10, "t3cen.data.module.check_labels", lambda *_: None),
        ("check", 16, "t3cen.data.files.StoredPictures.check", lambda _: None),
        ("listed", 8, "t3cen.data.files.check_list", lambda *_: None),
        ("flips", 120, "t3cen.data.files.open_rgb", _without_verification),
        ("modes", 8, "t3cen.data.files.open_rgb", _without_verification),
        ("coco", 8, "t3cen.data.coco_import.ImageOps.exif_transpose", lambda image: image),
        ("pickles", 8, "t3cen.data.pickled._Arrays.find_class", _anything),
        ("hidden", 9, "t3cen.data.caltech101.visible", lambda folder: sorted(folder.iterdir())),
        ("blocks", 8, "t3cen.data.shapes3d_files.checksum", lambda *_: "0" * 64),
        ("downloads", 30, "t3cen.data.mirrors.checksum", lambda *_: "0" * 64),
    ],
)
def test_a_missing_check_is_found(attack, kind, cases, target, replacement, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(target, replacement)
    assert attack.attack(kind, tmp_path, cases)["wrong"] > 0
    assert attack.KINDS[kind][0] in capfd.readouterr().err


def test_table_and_status(attack, monkeypatch, capsys, caplog):
    caplog.set_level(logging.NOTSET, "t3cen")  # which `main` sets for its process, and the end of this test sets back
    monkeypatch.setattr(sys, "argv", ["attack_data.py", "modes", "--cases", "4"])
    assert attack.main() == 0
    header, rule, row = capsys.readouterr().out.splitlines()
    assert header.count("|") == rule.count("|") == row.count("|")
    assert row == "| pictures of all modes and depths | 4 | 0 | 4 | 0 |"
    monkeypatch.setattr(sys, "argv", ["attack_data.py", "everything"])
    with pytest.raises(SystemExit):
        attack.main()
