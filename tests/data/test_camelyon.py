"""Camelyon17: hospitals, protocols, the mirror's import, drawn tissue."""

import io

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
import torch
from PIL import Image

from t3cen.color import rgb_to_hsl
from t3cen.data import Camelyon
from t3cen.data.camelyon import read_wilds, write_predictions
from t3cen.data.camelyon_import import import_parquet
from t3cen.data.camelyon_synthetic import HOSPITALS, _nuclei, patch
from t3cen.data.errors import DataError


@pytest.mark.parametrize(("protocol", "ood", "test"), [("paper", 2, 1), ("wilds", 1, 2)])
@pytest.mark.parametrize("source", ["files", "synthetic"])
def test_hospitals(fakes, protocol, ood, test, source):
    data = Camelyon(root=fakes, protocol=protocol, source=source, patches=20, image_size=16)
    _, center, _ = data.patches_by_hospital()
    splits = data.splits
    assert set(center[splits.train.indices].tolist()) == {0, 3, 4}
    assert set(center[splits.validation["id"].indices].tolist()) <= {0, 3, 4}
    assert set(center[splits.validation["ood"].indices].tolist()) == {ood}
    assert set(center[splits.test["test"].indices].tolist()) == {test}
    assert data.provenance["hospitals"] == {"train": (0, 3, 4), "id": (0, 3, 4), "ood": ood, "test": test}


def test_wilds_protocol_has_the_sets_of_wilds_in_its_order(fakes):
    data, official = Camelyon(root=fakes, protocol="wilds"), read_wilds(fakes)
    sets = {"train": data.splits.train, "id_val": data.splits.validation["id"], "val": data.splits.validation["ood"]}
    for name, items in {**sets, "test": data.splits.test["test"]}.items():
        assert items.indices.tolist() == list(official.get_subset(name).indices)
    image, label, _ = official.get_subset("test")[3]
    ours, our_label = data.splits.test["test"][3]
    assert label == our_label
    assert np.array_equal(np.asarray(image), (ours.permute(1, 2, 0) * 255).round().byte().numpy())


def test_predictions_are_one_label_a_line(tmp_path):
    path = write_predictions(tmp_path / "submission", "test", 3, torch.tensor([1, 0, 1]))
    assert path.name == "camelyon17_split:test_seed:3_epoch:best_pred.csv"
    assert path.read_text() == "1\n0\n1\n"
    with pytest.raises(ValueError, match="id_val, val or test, got 'ood'"):
        write_predictions(tmp_path, "ood", 0, torch.tensor([1]))
    with pytest.raises(ValueError, match="predictions must be labels"):
        write_predictions(tmp_path, "val", 0, torch.rand(4))


def png(value):
    stream = io.BytesIO()
    Image.fromarray(np.full((96, 96, 4), value, np.uint8)).save(stream, format="PNG")
    return {"bytes": stream.getvalue(), "path": None}


@pytest.fixture
def mirror(tmp_path):
    """Six patches as the mirror has them: train hospitals in two parts, validation mixed, numbers without leading zeros."""
    rows = {
        "train": [(5, 4, 3), (0, 61, 30)],
        "validation": [(3, 90, 45), (1, 22, 12)],
        "test": [(4, 42, 23), (2, 40, 20)],
    }
    folder = tmp_path / "mirror" / "data"
    folder.mkdir(parents=True)
    for split, entries in rows.items():
        columns = {
            "image": [png(10 * number) for number, _, _ in entries],
            "label": [number % 2 for number, _, _ in entries],
            "center": ["?"] * len(entries),
            "image_id": [number for number, _, _ in entries],
            "patient": [patient for _, patient, _ in entries],
            "node": [1] * len(entries),
            "x_coord": [32] * len(entries),
            "y_coord": [64] * len(entries),
            "slide": [slide for _, _, slide in entries],
        }
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{split}-00000-of-00001.parquet")
    return tmp_path / "mirror"


def test_import_of_the_mirror(mirror, tmp_path):
    folder = import_parquet(mirror, tmp_path)
    table = pandas.read_csv(folder / "metadata.csv", index_col=0, dtype={"patient": str})
    assert table["patient"].tolist() == ["061", "022", "040", "090", "042", "004"]
    assert table["center"].tolist() == [3, 1, 2, 4, 2, 0]
    assert table["split"].tolist() == [0, 0, 0, 1, 0, 0]
    data = Camelyon(root=tmp_path, protocol="wilds")
    assert data.splits.test["test"].indices.tolist() == [2, 4]
    assert data.splits.validation["id"].indices.tolist() == [3]
    image, _ = data.splits.test["test"][1]
    assert torch.allclose(image, torch.tensor(40 / 255))
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(DataError, match="exists already"):
        import_parquet(mirror, tmp_path)


def test_import_is_whole_or_absent(mirror, tmp_path):
    path = next(mirror.rglob("test-*.parquet"))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"test-00000.*cannot be read"):
        import_parquet(mirror, tmp_path)
    assert not (tmp_path / "camelyon17_v1.0").exists()
    path.unlink()
    with pytest.raises(DataError, match=r"has no files test-\*\.parquet"):
        import_parquet(mirror, tmp_path)


class TestTissue:
    def test_same_numbers_same_patch(self):
        first, again = patch(2, 5, 24, 7), patch(2, 5, 24, 7)
        assert np.array_equal(first[0], again[0])
        assert not np.array_equal(first[0], patch(2, 7, 24, 7)[0])
        assert (first[1], patch(2, 4, 24, 7)[1]) == (1, 0)

    def test_hospitals_differ_in_colour_alone(self):
        patches = torch.stack([torch.from_numpy(patch(hospital, 8, 32, 0)[0]).float() / 255 for hospital in range(5)])
        shapes = [torch.from_numpy(_nuclei(np.random.default_rng([0, hospital, 8]), 0, 32)) for hospital in range(5)]
        for image, nuclei in zip(patches, shapes, strict=True):  # the same tissue is drawn whoever stains it
            assert rgb_to_hsl(image)[0][nuclei > 0.6].mean() < rgb_to_hsl(image)[0][nuclei == 0].mean() - 0.05
        assert len({staining[:2] for staining in HOSPITALS}) == len(HOSPITALS)

    def test_saturation_differs_by_hospital_and_no_mean_colour_tells_the_label(self):
        def mean(hospital, label):
            patches = np.stack([patch(hospital, 2 * i + label, 32, 0)[0] for i in range(60)])
            return rgb_to_hsl(torch.from_numpy(patches).float() / 255).mean((0, 2, 3))

        trained = [mean(hospital, 0)[1] for hospital in (0, 3, 4)]
        assert mean(1, 0)[1] > max(trained) + 0.4
        assert max(trained) < mean(2, 0)[1] < mean(1, 0)[1]
        assert (mean(0, 0) - mean(0, 1)).abs().max() < 0.01

    def test_tumour_has_fewer_and_larger_nuclei_that_cover_as_much(self):
        covered, edges = [], []
        for label in (0, 1):
            nuclei = [_nuclei(np.random.default_rng(i), label, 64) for i in range(40)]
            covered.append(np.mean(nuclei))
            edges.append(np.mean([np.abs(np.diff(one)).mean() for one in nuclei]))
        assert covered[1] == pytest.approx(covered[0], rel=0.15)
        assert edges[0] > 1.5 * edges[1]


def test_wrong_arguments():
    with pytest.raises(ValueError, match="paper, wilds, got 'official'"):
        Camelyon(protocol="official")
    with pytest.raises(ValueError, match="patches must be at least 10"):
        Camelyon(source="synthetic", patches=1)
