"""What prepare_data does: states, fakes, imports and pictures."""

import errno
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from omegaconf import OmegaConf
from PIL import Image

from t3cen.data import DATA_SETS, KUTomaData
from t3cen.data.coco_import import import_coco
from t3cen.data.errors import DataError
from t3cen.data.fakes import write_fakes
from t3cen.data.idx import get_idx
from t3cen.data.pictures import data_set, draw, previews
from t3cen.data.preparation import recipes, state
from t3cen.data.throughput import images_per_second
from t3cen.experiments import all_runs

REPOSITORY = Path(__file__).parents[2]


def test_registries_agree():
    assert len(recipes()) == sum(len(made.recipes) for made in DATA_SETS.values())
    assert all(made.recipes for made in DATA_SETS.values())
    configured = {path.stem for path in (REPOSITORY / "conf" / "data").glob("*.yaml")}
    assert configured >= set(previews())
    in_tables = {run.data for run in all_runs().values()}
    for scale in ("laptop", "smoke"):
        assert in_tables <= {path.stem for path in (REPOSITORY / "conf" / "scale" / scale).glob("*.yaml")} <= configured


def test_the_tables_of_the_documentation_are_right():
    """Their rows, for those data sets that have one, say what the registry and the protocols say."""
    sets, protocols = (_rows(f"| `data=` | {second}") for second in ("test sets", "the paper's protocol"))
    for name, (tests, _, without) in sets.items():
        data = data_set(name)
        assert set(data.test_names) <= set(re.findall("`(.+?)`", tests)) <= {*data.test_names, *data.validation_names}
        assert all(f"{source}`" in without for source in data.sources if source != "files")
        [protocol] = [cells[0] for family, cells in protocols.items() if fnmatch(name, family)]
        config = OmegaConf.load(REPOSITORY / "conf" / "data" / f"{name}.yaml")
        steps, epochs = config.trainer.max_steps, config.trainer.max_epochs
        assert (f"{epochs} epochs" if epochs else f"{steps:,} iterations") in protocol
        assert config.backbone in protocol.lower()


def _rows(head):
    """The cells of a table of docs/data.md by data set; "same" stands for the cell above."""
    found, above = {}, []
    blocks = (REPOSITORY / "docs" / "data.md").read_text(encoding="utf-8").split("\n\n")
    for line in next(block for block in blocks if block.startswith(head)).splitlines()[2:]:
        names, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        above = [above[at] if cell == "same" else cell for at, cell in enumerate(cells)]
        found |= dict.fromkeys(names.replace("`", "").split(", "), above)
    return found


@pytest.mark.parametrize("name", recipes())
def test_states(name, fakes, tmp_path):
    whole, line = state(name, fakes)
    assert (whole, line[:6]) == (True, "fake: ")
    whole, line = state(name, tmp_path)
    assert not whole
    assert line.startswith("missing: ")
    assert str(tmp_path) in line


def test_damaged_and_incomplete(fakes, tmp_path):
    import shutil

    for folder in ("MNIST", "cifar-100-python"):
        shutil.copytree(fakes / folder, tmp_path / folder)
    assert state("mnist", tmp_path) == (False, "incomplete: 80 of 60,000 train pictures, 40 of 10,000 test pictures")
    whole, line = state("cifar100", tmp_path)
    assert not whole
    assert line.startswith("damaged: cifar100: ")
    assert "MD5" in line


@pytest.mark.parametrize(
    ("name", "folder", "content"),
    [("camelyon", "camelyon17_v1.0", b""), ("pets", "oxford-iiit-pet", b"cut"), ("smallnorb", "smallnorb", b"")],
)
def test_every_file_is_looked_at(fakes, tmp_path, name, folder, content):
    """A table that lists everything is not enough: the last picture alone is damaged."""
    shutil.copytree(fakes / folder, tmp_path / folder)
    assert state(name, tmp_path)[1].startswith("incomplete: ")
    if name == "smallnorb":
        path = next((tmp_path / folder).glob("test-*"))
        table = pyarrow.parquet.read_table(path)
        images = [*table["image_lt"].to_pylist()[:-1], {"bytes": content, "path": None}]
        pyarrow.parquet.write_table(table.set_column(0, "image_lt", pyarrow.array(images, table.schema.field(0).type)), path)
    else:
        sorted(path for path in (tmp_path / folder).rglob("*") if path.suffix in (".png", ".jpg"))[-1].write_bytes(content)
    whole, line = state(name, tmp_path)
    assert not whole
    assert line.startswith(f"damaged: {name}: ")
    assert "is no readable picture" in line


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (
            ConnectionError("no\nnetwork"),
            r"Ramos-Ramos/smallnorb could not be downloaded .*\(no network\); what has come is kept",
        ),
        (RuntimeError("timed out"), r"could not be downloaded .*\(timed out\)"),
        (OSError(errno.ENOSPC, "No space left on device"), r"smallnorb cannot be written \(No space left on device\)"),
    ],
)
def test_a_hub_that_fails_is_told_in_one_line(monkeypatch, tmp_path, raised, told):
    def fail(*_, **__):
        raise raised

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    with pytest.raises(DataError, match=told) as error:
        recipes()["smallnorb"][1].get(tmp_path)
    assert "\n" not in str(error.value)


def test_fakes_and_real_data_never_mix(tmp_path):
    (tmp_path / "MNIST").mkdir()
    with pytest.raises(ValueError, match="is not empty and holds no fakes"):
        write_fakes(tmp_path, ["mnist"])
    with pytest.raises(ValueError, match="no fake of imagenet"):
        write_fakes(tmp_path / "new", ["imagenet"])


def test_installed_fashion_mnist_is_used(fakes, tmp_path):
    import gzip

    installed = tmp_path / "installed"
    installed.mkdir()
    names = [path.name for path in (fakes / "FashionMNIST" / "raw").iterdir()]
    for name in names:
        (installed / f"{name}.gz").write_bytes(gzip.compress((fakes / "FashionMNIST" / "raw" / name).read_bytes()))
    get_idx(tmp_path, "FashionMNIST", (), dict.fromkeys(names, "unused"), installed)
    for name in names:
        assert (tmp_path / "FashionMNIST" / "raw" / name).read_bytes() == (fakes / "FashionMNIST" / "raw" / name).read_bytes()


class TestCoco:
    @pytest.fixture
    def laboro(self, tmp_path):
        folder = tmp_path / "laboro"
        for split in ("train", "test"):
            (folder / split).mkdir(parents=True)
            pixels = np.zeros((60, 80, 3), np.uint8)
            pixels[10:40, 10:40] = (200, 0, 0)
            Image.fromarray(pixels).save(folder / split / "one.png")
            boxes = [(1, [10, 10, 30, 30]), (2, [40, 20, 20, 25]), (3, [0, 0, 30, 30]), (2, [0, 0, 5, 30])]
            content = {
                "images": [{"id": 7, "file_name": "one.png"}],
                "categories": [{"id": i + 1, "name": n} for i, n in enumerate(("b_fully_ripened", "l_green", "b_half_ripened"))],
                "annotations": [{"image_id": 7, "category_id": c, "bbox": b} for c, b in boxes],
            }
            (folder / "annotations").mkdir(exist_ok=True)
            (folder / "annotations" / f"{split}.json").write_text(json.dumps(content))
        return folder

    def test_boxes_become_folders(self, laboro, tmp_path):
        counts = import_coco(laboro, tmp_path)
        assert counts == {"train/ripe": 1, "train/unripe": 1, "test/ripe": 1, "test/unripe": 1, "left out": 4}
        ripe = np.asarray(Image.open(next((tmp_path / "kutomadata" / "test" / "ripe").iterdir())))
        assert ripe.shape == (30, 30, 3)
        assert (ripe == (200, 0, 0)).all()
        data = KUTomaData(root=tmp_path, image_size=16, validation_fraction=0)
        assert len(data.splits.train) == 2
        assert state("kutomadata", tmp_path) == (True, "complete: train 1, validation 1, test/test 2")

    @pytest.mark.parametrize("damage", ["another picture", "list"])
    def test_files_are_compared_with_what_was_written(self, laboro, tmp_path, damage):
        """Another picture can be read as well as the first; so can one with a flipped bit, if it is a JPEG."""
        import_coco(laboro, tmp_path)
        folder = tmp_path / "kutomadata"
        path = next((folder / "test" / "ripe").iterdir())
        Image.new("RGB", (30, 30)).save(path)
        if damage == "list":
            (folder / "SHA256SUMS").write_bytes(b"\xff\x00")
        whole, line = state("kutomadata", tmp_path)
        assert not whole
        told = "SHA256SUMS lists in line 1 what cannot be read" if damage == "list" else f"{path} has SHA-256"
        assert line.startswith("damaged: kutomadata: ")
        assert told in line

    def test_photographs_of_one_name_in_two_folders_are_two(self, laboro, tmp_path):
        path = laboro / "annotations" / "train.json"
        content = json.loads(path.read_text())
        (laboro / "train" / "more").mkdir()
        shutil.copy(laboro / "train" / "one.png", laboro / "train" / "more")
        content["images"].append({"id": 8, "file_name": "more/one.png"})
        content["annotations"] += [{**box, "image_id": 8} for box in content["annotations"]]
        path.write_text(json.dumps(content))
        counts = import_coco(laboro, tmp_path / "two")
        for kind in ("ripe", "unripe"):
            assert counts[f"train/{kind}"] == len(list((tmp_path / "two" / "kutomadata" / "train" / kind).iterdir())) == 2
        content["images"][1]["file_name"] = "one.png"
        path.write_text(json.dumps(content))
        with pytest.raises(DataError, match=r"one_000\.png would be written twice"):
            import_coco(laboro, tmp_path / "again")

    def test_half_ripe_may_count_as_unripe(self, laboro, tmp_path):
        counts = import_coco(laboro, tmp_path, unripe=("green", "half_ripened"))
        assert counts["train/unripe"] == 2

    @pytest.mark.parametrize(
        ("size", "red"), [({}, False), ({"width": 60, "height": 80}, False), ({"width": 80, "height": 60}, True)]
    )
    def test_boxes_count_the_pixels_their_sizes_say(self, laboro, tmp_path, size, red):
        """The camera was held upright: 80 x 60 pixels are stored, 60 x 80 shown, and there the red square is elsewhere."""
        exif = Image.Exif()
        exif[274] = 6
        for split in ("train", "test"):
            with Image.open(laboro / split / "one.png") as image:
                image.save(laboro / split / "one.png", exif=exif)
            path = laboro / "annotations" / f"{split}.json"
            content = json.loads(path.read_text())
            content["images"][0] |= size
            content["annotations"] = [{**box, "bbox": [10, 10, 20, 30]} for box in content["annotations"]]
            path.write_text(json.dumps(content))
        import_coco(laboro, tmp_path)
        crop = np.asarray(Image.open(next((tmp_path / "kutomadata" / "test" / "ripe").iterdir())))
        assert (crop == (200, 0, 0)).all() == red

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"bbox": [70, 10, 30, 30]}, r"a box \[70, 10, 30, 30\] that leaves one.png of 80 x 60 pixels"),
            ({"bbox": [10, 10, 30]}, r"a box \[10, 10, 30\] on one.png, four numbers are expected"),
            ({"category_id": 9}, "is no COCO instances file .*KeyError: 9"),
            ({"image_id": 8}, "is no COCO instances file .*image_id 8"),
        ],
    )
    def test_wrong_annotations(self, laboro, tmp_path, change, told):
        path = laboro / "annotations" / "train.json"
        content = json.loads(path.read_text())
        content["annotations"][0] |= change
        path.write_text(json.dumps(content))
        with pytest.raises(DataError, match=rf"train\.json (has )?{told}"):
            import_coco(laboro, tmp_path)
        assert not (tmp_path / "kutomadata").exists()

    def test_sizes_of_another_picture(self, laboro, tmp_path):
        path = laboro / "annotations" / "train.json"
        content = json.loads(path.read_text())
        content["images"][0] |= {"width": 800, "height": 600}
        path.write_text(json.dumps(content))
        with pytest.raises(DataError, match=r"has boxes for 800 x 600 pixels, but .*one\.png has 80 x 60"):
            import_coco(laboro, tmp_path)

    def test_errors_leave_nothing(self, laboro, tmp_path):
        (laboro / "test" / "one.png").write_bytes(b"no")
        with pytest.raises(DataError, match=r"test/one\.png is missing or no picture"):
            import_coco(laboro, tmp_path)
        (laboro / "annotations" / "train.json").write_text('{"images": []}')
        with pytest.raises(DataError, match="is no COCO instances file"):
            import_coco(laboro, tmp_path)
        (laboro / "annotations" / "train.json").unlink()
        with pytest.raises(DataError, match=r"annotations/train\.json is missing"):
            import_coco(laboro, tmp_path)
        assert not (tmp_path / "kutomadata").exists()


@pytest.mark.parametrize(
    ("name", "options"), [("camelyon", {"patches": 50, "image_size": 8}), ("shapes3d_hsl", {"image_size": 8})]
)
def test_pictures(name, options, tmp_path):
    path = draw(name, tmp_path / "deep", columns=3, **options)
    assert path == tmp_path / "deep" / f"{name}.png"
    assert np.asarray(Image.open(path).convert("L")).std() > 10


def test_pictures_need_a_known_name(tmp_path):
    with pytest.raises(ValueError, match="no data set is called 'imagenet'"):
        draw("imagenet", tmp_path)


def test_throughput(fakes, monkeypatch):
    data = data_set("cifar10", root=fakes, batch_size=8)
    data.setup()
    monkeypatch.setattr("t3cen.data.throughput.time", SimpleNamespace(perf_counter=itertools.count(1.0).__next__))
    images = len(data.splits.train)
    seconds = math.ceil(images / 8)  # one a batch
    assert images_per_second(data, seconds=2 * seconds) == pytest.approx(images / seconds, rel=0.1)


@pytest.mark.slow
class TestCommand:
    def run(self, *arguments):
        command = [sys.executable, str(REPOSITORY / "scripts" / "prepare_data.py"), *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=REPOSITORY, env={"PYTHONPATH": str(REPOSITORY)}, check=False
        )

    def test_speed_beside_the_networks(self, tmp_path):
        made = self.run("--speed", "mnist", "--root", tmp_path)
        assert made.returncode == 0, made.stderr
        header, *lines = made.stdout.splitlines()
        assert header.endswith("the plain network's images/s")
        assert [line.split()[4] for line in lines] == ["0", "2"]
        assert all(int(rate) > 0 for line in lines for rate in line.split()[6:8])
        assert self.run("--speed", "imagenet").returncode == 1

    def test_fake_then_check(self, tmp_path):
        made = self.run("mnist", "pets", "--fake", tmp_path / "f")
        assert made.returncode == 0, made.stderr
        checked = self.run("mnist", "pets", "cars", "--check", "--root", tmp_path / "f")
        assert checked.returncode == 1
        lines = checked.stdout.splitlines()
        assert [line.split()[:2] for line in lines] == [["mnist", "fake:"], ["pets", "fake:"], ["cars", "missing:"]]

    def test_manual_steps(self, tmp_path):
        asked = self.run("cars", "kutomadata", "--root", tmp_path)
        assert asked.returncode == 1
        assert f"{tmp_path}/stanford_cars" in asked.stdout
        assert "LaboroTomato" in asked.stdout

    def test_unknown_name(self):
        asked = self.run("imagenet")
        assert asked.returncode == 2
        assert "unknown data set 'imagenet' (data sets: caltech101" in asked.stderr
