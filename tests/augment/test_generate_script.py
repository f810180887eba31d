"""`t3cen deepaugment`, and a training set that reads what it made."""

import pytest
import torch

from t3cen.augment import DeepAugment
from t3cen.commands.deepaugment import main
from t3cen.data import MNIST


def arguments(root, *more):
    return ["data=mnist", "data.source=bundled", f"data_root={root}", "+data.train_size=6", "--steps", "2", *more]


def test_makes_what_the_training_reads(tmp_path, capsys):
    assert main(arguments(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "6 pictures, two variants each" in said
    assert "disturbing activations: 5 of 6" in said
    data = MNIST(source="bundled", root=tmp_path, train_size=6, augmentation=DeepAugment("mnist", tmp_path))
    clean = MNIST(source="bundled", root=tmp_path, train_size=6).splits.train
    changed = sum(not torch.equal(data.splits.train[(e, i)][0], clean[(e, i)][0]) for e in range(10) for i in range(6))
    assert 25 <= changed <= 55  # two draws of three


def test_says_what_is_wrong_in_one_line(tmp_path, capsys):
    assert main(arguments(tmp_path, "data.sorce=files")) == 1
    assert "data.sorce" in capsys.readouterr().err
    assert main(["data=mnist", f"data_root={tmp_path}"]) == 1
    assert "is missing" in capsys.readouterr().err
    assert main(arguments(tmp_path, "--steps", "0")) == 1
    assert "0 steps" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["data.source=bundled"])
    assert "name one data set" in capsys.readouterr().err
