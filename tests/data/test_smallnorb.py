"""Small NORB: which pictures are in which set, from files and drawn."""

import numpy as np
import pyarrow.parquet
import pytest
import torch

from t3cen.data import SmallNORB
from t3cen.data.errors import DataError
from t3cen.data.smallnorb_render import LIGHTINGS, TEST_INSTANCES, TRAIN_INSTANCES, toys


def test_sets_are_lightings_of_the_published_parts(fakes):
    data = SmallNORB(root=fakes)
    tables = {
        split: pyarrow.parquet.read_table(next((fakes / "smallnorb").glob(f"{split}-*.parquet"))) for split in ("train", "test")
    }
    lighting = {split: np.array(table["lighting"]) for split, table in tables.items()}
    splits = data.splits
    learn = torch.cat([splits.train.indices, splits.validation["validation"].indices])
    assert set(lighting["train"][learn.numpy()]) == {2, 3}
    for name, wanted in {"A": {2, 3}, "B": {0, 1}, "C": {4, 5}}.items():
        rows = splits.test[name].indices.numpy()
        assert set(lighting["test"][rows]) == wanted
        assert len(rows) == np.isin(lighting["test"], list(wanted)).sum()
        assert [splits.test[name][i][1] for i in range(5)] == np.array(tables["test"]["category"])[rows[:5]].tolist()


def test_left_picture_as_grey_rgb(fakes):
    image, _ = SmallNORB(root=fakes).splits.test["A"][0]
    assert image.shape == (3, 96, 96)
    assert torch.equal(image[0], image[1])
    assert torch.equal(image[0], image[2])


def test_files_may_lie_in_the_publishers_folder(fakes, tmp_path):
    import shutil

    shutil.copytree(fakes / "smallnorb", tmp_path / "smallnorb" / "data")
    assert len(SmallNORB(root=tmp_path).splits.test["B"]) == 20


def test_hub(fakes, monkeypatch):
    import datasets

    def load(repository, split):
        assert repository == "Ramos-Ramos/smallnorb"
        path = next((fakes / "smallnorb").glob(f"{split}-*.parquet"))
        table = datasets.table.InMemoryTable(pyarrow.parquet.read_table(path))
        return datasets.Dataset(table)

    monkeypatch.setattr(datasets, "load_dataset", load)
    hub, files = SmallNORB(source="hub"), SmallNORB(root=fakes)
    assert torch.equal(hub.splits.test["C"][3][0], files.splits.test["C"][3][0])


def test_hub_out_of_reach(monkeypatch):
    import datasets

    def load(repository, split):
        raise ConnectionError("offline")

    monkeypatch.setattr(datasets, "load_dataset", load)
    with pytest.raises(DataError, match=r"cannot be had from Hugging Face \(offline\).*data.source=rendered"):
        SmallNORB(source="hub").setup()


class TestDrawn:
    @pytest.fixture(scope="class")
    @staticmethod
    def drawn():
        return toys(TRAIN_INSTANCES[:2], 16)

    def test_lightings_get_brighter(self, drawn):
        pictures, factors = drawn
        means = [pictures[factors[:, 1] == lighting].mean() for lighting in range(len(LIGHTINGS))]
        assert means == sorted(means)
        assert means[2] - means[1] > 30
        assert means[4] - means[3] > 30

    def test_every_category_and_side_differs(self, drawn):
        pictures, factors = drawn
        first = pictures[factors[:, 1] == 2]
        assert len(np.unique(first.reshape(len(first), -1), axis=0)) > 0.95 * len(first)
        assert set(factors[:, 0]) == set(range(5))

    def test_sets_have_other_toys(self):
        assert not set(TRAIN_INSTANCES) & set(TEST_INSTANCES)

    @pytest.mark.slow
    def test_a_data_set_of_drawn_toys(self):
        data = SmallNORB(source="rendered", image_size=8)
        assert {name: len(items) for name, items in data.splits.test.items()} == {"A": 1350, "B": 1350, "C": 1350}
        assert data.provenance["source"] == "rendered"
