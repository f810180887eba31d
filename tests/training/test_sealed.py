"""A sealed file is what was written, or is refused."""

import pytest
import torch

from t3cen.training import sealed
from t3cen.training.sealed import DamagedFile


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.ckpt"
    sealed.save({"state_dict": {"network.weight": torch.arange(9.0).view(3, 3), "network.bias": torch.ones(3)}}, path)
    return path


def test_it_comes_back(path):
    found = sealed.load(path)["state_dict"]["network.weight"]
    assert torch.equal(found, torch.arange(9.0).view(3, 3))
    assert torch.equal(torch.load(path, weights_only=True)["state_dict"]["network.weight"], found)
    assert [p.name for p in path.parent.iterdir()] == ["a.ckpt"]


def test_every_changed_bit_is_noticed(path):
    whole = path.read_bytes()
    for at in range(0, 8 * len(whole), 37):
        path.write_bytes(whole[: at // 8] + bytes([whole[at // 8] ^ 1 << at % 8]) + whole[at // 8 + 1 :])
        with pytest.raises(DamagedFile, match=r"a\.ckpt"):
            sealed.load(path)


@pytest.mark.parametrize(
    "change", [lambda whole: whole[:-1], lambda whole: whole[:100], lambda whole: b"", lambda whole: whole + b"x"]
)
def test_more_or_less_is_noticed(path, change):
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DamagedFile, match="is cut short, or was never sealed"):
        sealed.load(path)


def test_what_cannot_be_written_leaves_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        sealed.save({"a": lambda: None}, path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["a.ckpt"]
