"""Damaged, incomplete and foreign files: one clear error each, naming the file."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch

import t3cen.data
from t3cen.data.errors import DataError, MissingData
from t3cen.data.module import FAKE_MARK


@pytest.fixture
def copy(fakes, tmp_path):
    """A copy of one data set's fake, to be damaged."""

    def make(folder):
        shutil.copytree(fakes / folder, tmp_path / folder)
        (tmp_path / FAKE_MARK).touch()
        return tmp_path

    return make


def load(cls, root, **options):
    getattr(t3cen.data, cls)(root=root, **options).setup()


@pytest.mark.parametrize(
    ("cls", "what"),
    [
        ("CIFAR10", "data_batch_1"),
        ("CIFAR100", "train"),
        ("STL10", "train_X.bin"),
        ("Caltech101", "101_ObjectCategories"),
        ("Pets", "annotations/trainval.txt"),
        ("Cars", "devkit/cars_meta.mat"),
        ("SmallNORB", r"train-\*.parquet"),
        ("Camelyon", "metadata.csv"),
        ("KUTomaData", "folder train/ripe"),
    ],
)
def test_missing(cls, what, tmp_path):
    name = getattr(t3cen.data, cls).name
    with pytest.raises(MissingData, match=rf"{name}: .*{what}.* is missing; looked for .*prepare_data.py {name}"):
        load(cls, tmp_path)


@pytest.mark.parametrize(
    ("cls", "folder", "file"),
    [
        ("CIFAR10", "cifar-10-batches-py", "data_batch_1"),
        ("CIFAR100", "cifar-100-python", "train"),
        ("STL10", "stl10_binary", "train_X.bin"),
    ],
)
def test_wrong_checksum(copy, cls, folder, file):
    root = copy(folder)
    (root / FAKE_MARK).unlink()
    with pytest.raises(DataError, match=rf"{file} has MD5 [0-9a-f]{{32}}, [0-9a-f]{{32}} expected"):
        load(cls, root)


def test_truncated_batch(copy):
    root = copy("cifar-10-batches-py")
    path = root / "cifar-10-batches-py" / "data_batch_2"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError, match="cifar-10-batches-py cannot be read"):
        load("CIFAR10", root)


def test_wrong_array_shape(copy):
    root = copy("cifar-10-batches-py")
    path = root / "cifar-10-batches-py" / "data_batch_3"
    content = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps({**content, "data": content["data"][:, :3000]}))
    with pytest.raises(DataError, match=r"cifar10: .* cannot be read .*dimension"):
        load("CIFAR10", root)


def test_labels_without_pictures(copy):
    root = copy("cifar-10-batches-py")
    path = root / "cifar-10-batches-py" / "data_batch_3"
    content = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps({**content, "labels": content["labels"][:-1]}))
    with pytest.raises(DataError, match="99 labels for 100 images"):
        load("CIFAR10", root)


@pytest.mark.parametrize("file", ["train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])
def test_truncated_digits(copy, file):
    root = copy("MNIST")
    path = root / "MNIST" / "raw" / file
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(DataError, match=rf"mnist: .*{file.split('-')[0]}-images"):
        load("MNIST", root)


def test_digits_that_torchvision_once_processed_are_not_believed(copy):
    root = copy("MNIST")
    (root / "MNIST" / "processed").mkdir()
    for name in ("training.pt", "test.pt"):
        torch.save((torch.zeros(5, 28, 28, dtype=torch.uint8), torch.zeros(5).long()), root / "MNIST" / "processed" / name)
    data = t3cen.data.MNIST(root=root)
    assert data.provenance["sizes"]["test/in"] == 40


@pytest.mark.parametrize("value", [10, 200])
def test_a_digit_that_is_none(copy, value):
    root = copy("MNIST")
    path = root / "MNIST" / "raw" / "t10k-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1] + bytes([value]))
    with pytest.raises(DataError, match=f"has a label {value}, only 0 to 9 are expected"):
        load("MNIST", root)


def test_stl10_cut_short(copy):
    root = copy("stl10_binary")
    path = root / "stl10_binary" / "test_X.bin"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(DataError, match="stl10_binary cannot be read"):
        load("STL10", root)


class TestPhotographs:
    def test_missing_class_folder(self, copy):
        root = copy("caltech101")
        shutil.rmtree(root / "caltech101" / "101_ObjectCategories" / "category_003")
        with pytest.raises(DataError, match="has 100 class folders, 101 expected"):
            load("Caltech101", root)

    def test_missing_background_folder(self, copy):
        root = copy("caltech101")
        shutil.rmtree(root / "caltech101" / "101_ObjectCategories" / "BACKGROUND_Google")
        with pytest.raises(MissingData, match="BACKGROUND_Google"):
            load("Caltech101", root)

    def test_a_gap_in_the_numbers(self, copy):
        root = copy("caltech101")
        (root / "caltech101" / "101_ObjectCategories" / "category_003" / "image_0002.jpg").unlink()
        with pytest.raises(DataError, match=r"image_0002\.jpg is missing"):
            load("Caltech101", root)

    @pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff\xe0 no picture", "half"])
    def test_unreadable_picture(self, copy, content):
        root = copy("kutomadata")
        path = root / "kutomadata" / "test" / "ripe" / "000.jpg"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if content == "half" else content)
        data = t3cen.data.KUTomaData(root=root, image_size=32)
        with pytest.raises(DataError, match=r"test/ripe/000\.jpg is no readable picture"):
            list(data.test_dataloader()[0])

    def test_empty_class(self, copy):
        root = copy("kutomadata")
        for path in (root / "kutomadata" / "train" / "unripe").iterdir():
            path.unlink()
        with pytest.raises(DataError, match="train/unripe has no pictures"):
            load("KUTomaData", root)

    def test_missing_annotation_class(self, copy):
        root = copy("oxford-iiit-pet")
        path = root / "oxford-iiit-pet" / "annotations" / "test.txt"
        path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if " 37 " not in line))
        with pytest.raises(DataError, match="no picture of 1 of 37 classes"):
            load("Pets", root)

    def test_damaged_annotations(self, copy):
        root = copy("stanford_cars")
        path = root / "stanford_cars" / "devkit" / "cars_train_annos.mat"
        path.write_bytes(path.read_bytes()[:300])
        with pytest.raises(DataError, match=r"cars_train_annos\.mat cannot be read"):
            load("Cars", root)

    def test_empty_list(self, copy):
        root = copy("oxford-iiit-pet")
        (root / "oxford-iiit-pet" / "annotations" / "trainval.txt").write_text("")
        with pytest.raises(DataError, match="no training pictures"):
            load("Pets", root)

    def test_every_mode_becomes_rgb(self, fakes):
        from PIL import Image

        folder = fakes / "oxford-iiit-pet" / "images"
        modes = set()
        for path in folder.iterdir():
            with Image.open(path) as image:
                modes.add(image.mode)
        assert modes == {"RGB", "L", "P", "RGBA", "CMYK"}
        data = t3cen.data.Pets(root=fakes, image_size=32)
        assert {items[i][0].shape for items in (data.splits.train,) for i in range(len(items))} == {(3, 32, 32)}


class TestSmallNORB:
    def rewrite(self, root, change):
        path = next((root / "smallnorb").glob("train-*.parquet"))
        pyarrow.parquet.write_table(change(pyarrow.parquet.read_table(path)), path)

    def test_missing_column(self, copy):
        root = copy("smallnorb")
        self.rewrite(root, lambda table: table.drop_columns(["lighting"]))
        with pytest.raises(DataError, match=r"train-.*\.parquet has no column lighting, only image_lt"):
            load("SmallNORB", root)

    @pytest.mark.parametrize(("kept", "told"), [(4, "4 or 5"), (5, "5")])
    def test_missing_lighting(self, copy, kept, told):
        root = copy("smallnorb")
        self.rewrite(root, lambda table: table.filter(pyarrow.compute.less(table["lighting"], kept)))
        with pytest.raises(DataError, match=f"no picture with lighting {told}, set C"):
            load("SmallNORB", root)

    @pytest.mark.parametrize(
        ("column", "value", "told"),
        [
            ("category", 5, "has category 5, one of 0, 1, 2, 3, 4 expected"),
            ("category", 0.5, r"has a column category that is none \(labels must be whole numbers, got 0.5\)"),
            ("category", None, "has a column category that is none"),
            ("lighting", -1, "has lighting -1, one of 0, 1, 2, 3, 4, 5 expected"),
            ("instance", 2, "has instance 2, one of 4, 6, 7, 8, 9 expected"),
        ],
    )
    def test_wrong_values(self, copy, column, value, told):
        def change(table):
            values = [value, *table[column].to_pylist()[1:]]
            return table.set_column(table.column_names.index(column), column, pyarrow.array(values))

        root = copy("smallnorb")
        self.rewrite(root, change)
        with pytest.raises(DataError, match=rf"train-.*\.parquet {told}"):
            load("SmallNORB", root)

    def test_empty(self, copy):
        root = copy("smallnorb")
        self.rewrite(root, lambda table: table.slice(0, 0))
        with pytest.raises(DataError, match="has no rows"):
            load("SmallNORB", root)

    def test_truncated(self, copy):
        root = copy("smallnorb")
        path = next((root / "smallnorb").glob("test-*.parquet"))
        path.write_bytes(path.read_bytes()[:1000])
        with pytest.raises(DataError, match=r"test-.*\.parquet cannot be read"):
            load("SmallNORB", root)


class TestCamelyon:
    def table(self, root):
        return root / "camelyon17_v1.0" / "metadata.csv"

    def test_missing_column(self, copy):
        root = copy("camelyon17_v1.0")
        path = self.table(root)
        path.write_text(path.read_text().replace("tumor", "label", 1))
        with pytest.raises(DataError, match=r"metadata\.csv has no column tumor"):
            load("Camelyon", root)

    def test_missing_hospital(self, copy):
        root = copy("camelyon17_v1.0")
        path = self.table(root)
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if ",2," not in line[-6:]))
        with pytest.raises(DataError, match="lists no patch of hospital 2"):
            load("Camelyon", root)

    @pytest.mark.parametrize(
        ("column", "value", "told"),
        [
            ("tumor", "2", "a tumor that is none of 0 to 1 in line 5 .*tumor 2"),
            ("tumor", "", "a tumor that is none of 0 to 1 in line 5"),
            ("tumor", "0.5", "a tumor that is none of 0 to 1 in line 5"),
            ("center", "7", "a center that is none of 0 to 4 in line 5"),
            ("center", "3", "a slide of another hospital than its center in line 5"),
            ("split", "3", "a split that is none of 0 to 1 in line 5"),
            ("x_coord", "", "a patch without a place in line 5"),
            ("x_coord", "0", "a patch that was listed before in line 5"),
        ],
    )
    def test_wrong_values(self, copy, column, value, told):
        root = copy("camelyon17_v1.0")
        path = self.table(root)
        header, *rows = [line.split(",") for line in path.read_text().splitlines()]
        rows[3][header.index("node")] = rows[0][header.index("node")]
        rows[3][header.index(column)] = value
        path.write_text("\n".join(",".join(row) for row in (header, *rows)) + "\n")
        with pytest.raises(DataError, match=rf"metadata\.csv has {told}"):
            load("Camelyon", root)

    def test_empty_table(self, copy):
        root = copy("camelyon17_v1.0")
        path = self.table(root)
        path.write_text(path.read_text().splitlines()[0] + "\n")
        with pytest.raises(DataError, match="lists no patches"):
            load("Camelyon", root)

    def test_missing_patch(self, copy):
        root = copy("camelyon17_v1.0")
        for path in (root / "camelyon17_v1.0" / "patches").rglob("patch_patient_024_*.png"):
            path.unlink()
        with pytest.raises(DataError, match=r"patch_patient_024_node.*\.png and 23 more pictures is missing"):
            load("Camelyon", root)


def test_incomplete_sets_are_told_of(copy, caplog):
    root = copy("oxford-iiit-pet")
    (root / FAKE_MARK).unlink()
    data = t3cen.data.Pets(root=root)
    data.setup()
    assert "111 of 3,680 train pictures" in caplog.text
    assert data.provenance["complete"] is False
    assert data.provenance["source"] == "files"


def test_no_class_is_a_number_out_of_range(copy):
    root = copy("stl10_binary")
    path = root / "stl10_binary" / "test_y.bin"
    path.write_bytes(np.full(20, 11, np.uint8).tobytes())
    with pytest.raises(DataError, match="has a label 10, only 0 to 9 are expected"):
        load("STL10", root)


def test_roots_may_be_text(fakes):
    load("CIFAR10", str(fakes))
    assert isinstance(t3cen.data.CIFAR10(root=str(fakes)).root, Path)
