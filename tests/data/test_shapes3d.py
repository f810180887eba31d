"""3D Shapes, rendered and from its file."""

import pickle
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
import torch

from t3cen.color import rgb_to_hsl
from t3cen.data import Shapes3D
from t3cen.data.errors import DataError
from t3cen.data.shapes3d import block_rows
from t3cen.data.shapes3d_files import COUNT, H5Shapes, UnpackedShapes, labels, unpack, write
from t3cen.data.shapes3d_render import FACTORS, FLOOR, OBJECT, SKY, WALL, RenderedShapes, factors


def rendered(**options):
    return Shapes3D(source="rendered", image_size=16, test_size=40, **options)


@pytest.fixture(scope="module")
def drawn():
    return RenderedShapes(16)


class TestRendering:
    def index(self, *numbers):
        return int(np.ravel_multi_index(numbers, FACTORS))

    def test_numbers_and_labels(self, drawn):
        assert len(drawn) == 480_000
        assert factors(self.index(1, 2, 3, 4, 2, 6)) == (1, 2, 3, 4, 2, 6)
        assert drawn.label(self.index(9, 9, 9, 7, 3, 14)) == 3
        assert drawn.label(self.index(0, 5, 1, 0, 2, 0)) == 2

    def test_colours_are_hue_times_light(self, drawn):
        at = self.index(2, 5, 8, 7, 0, 7)
        image, parts = drawn.picture(at).float() / 255, drawn.parts(at)
        hue, saturation, _ = rgb_to_hsl(image)
        for part, number in ((FLOOR, 2), (WALL, 5), (OBJECT, 8)):
            inside = (parts == part) & (image.amax(0) < 0.95) & (saturation > 0.99)
            assert inside.sum() > 3
            assert (hue[inside] - number / 10).abs().max() < 0.02
        assert image.permute(1, 2, 0)[parts == SKY].mul(255).round().unique(dim=0).tolist() == [[153, 226, 249]]

    def test_the_hue_of_one_part_changes_nothing_else(self, drawn):
        first, second = self.index(2, 5, 8, 3, 1, 4), self.index(2, 5, 1, 3, 1, 4)
        parts = drawn.parts(first)
        changed = (drawn.picture(first) != drawn.picture(second)).any(0)
        assert not changed[(parts == SKY)].any()
        assert changed[parts == OBJECT].all()

    def test_objects_grow_and_the_camera_orbits(self, drawn):
        area = [int((drawn.parts(self.index(0, 0, 0, s, 2, 7)) == OBJECT).sum()) for s in range(8)]
        assert area == sorted(area)
        assert area[-1] > 1.5 * area[0]
        left, right = (drawn.scenes.share[self.index(0, 0, 0, 0, 2, a)][SKY].astype(int) for a in (0, 14))
        assert np.abs(left - right[:, ::-1]).max() <= 2

    def test_measured_frames(self):
        """Numbers measured in the authors' public frames: horizon, box of the object and light on the walls."""
        sharp = RenderedShapes(64)
        cube = sharp.parts(self.index(0, 0, 0, 7, 0, 7)) == OBJECT
        assert cube.any(0).sum() == pytest.approx(64 * 0.355 * 1.25 / (2.49 - 0.355 * 1.25) / 0.4694, abs=1.5)
        light = sharp.scenes.light[7]
        assert light[1][26, 8] == pytest.approx(1.05, abs=0.1)
        assert light[1][26, 55] == pytest.approx(0.95, abs=0.1)
        assert light[2][42, 32] == pytest.approx(0.93, abs=0.05)


def test_blocks():
    rows = {block: block_rows(block) for block in "ABC"}
    hues = {block: np.stack(np.unravel_index(rows[block].numpy(), FACTORS)[:3]) for block in "ABC"}
    assert all(len(r) == 60_000 and (r.diff() > 0).all() for r in rows.values())
    assert hues["A"].max() == 4
    assert hues["B"].min() == 5
    assert (hues["C"][:2].max(), hues["C"][2].min()) == (4, 5)


def test_hue_variant_has_equal_places_in_all_blocks():
    data = Shapes3D(source="rendered", image_size=16)
    train, tests = data.splits.train, data.splits.test
    hold = data.splits.validation["validation"]
    assert len(train) + len(hold) == 48_000
    assert {name: len(items) for name, items in tests.items()} == {"A": 12_000, "B": 12_000, "C": 12_000}
    sets = [set(items.indices.tolist()) for items in (train, hold, tests["A"])]
    assert len(set.union(*sets)) == 60_000
    a, b = (factors(int(tests[block].indices[123])) for block in "AB")
    assert a[3:] == b[3:]
    assert [x + 5 for x in a[:3]] == list(b[:3])
    other = Shapes3D(source="rendered", image_size=16, seed=9).splits
    assert torch.equal(other.train.indices, train.indices)


def test_saturation_variant():
    data = rendered(variant="saturation")
    assert data.test_names == ("A", "B", "C", "C_parts")
    tests = data.splits.test
    parts = data.splits.train.source.parts

    def falls(name, index):
        before, after = (rgb_to_hsl(tests[n][index][0])[1] for n in ("A", name))
        inside = (parts(int(tests["A"].indices[index])) != SKY) & (before > 0.999)
        return (before - after)[inside]

    steps = torch.tensor([falls("B", i).median() for i in range(40)]) / 0.125
    torch.testing.assert_close(steps, steps.round(), atol=0.02, rtol=0)
    assert set(steps.round().int().tolist()) <= set(range(1, 8))
    assert len(steps.round().unique()) > 3
    random = torch.tensor([falls("C", i).median() for i in range(40)])
    assert ((random / 0.125 - (random / 0.125).round()).abs() > 0.05).any()
    assert falls("B", 0).std() < 0.02
    apart = torch.stack([falls("C_parts", i).std() for i in range(40)])
    assert apart.max() > 0.1


def test_hsl_variant_shifts_by_whole_steps_in_steps():
    data = rendered(variant="hsl", shift_mode="fold")
    assert data.test_names == ("A", "B", "steps")
    red_ish = data.splits.test
    moved = 0
    for i in range(20):
        before, after = rgb_to_hsl(red_ish["A"][i][0]), rgb_to_hsl(red_ish["steps"][i][0])
        defined = (before[1] > 0.2) & (after[1] > 0.2) & (before[2] > 0.1) & (after[2] > 0.1) & (after[2] < 0.9)
        turned = torch.remainder(after[0] - before[0], 1)[defined] * 4
        if len(turned):
            moved += 1
            assert ((turned - turned.round()).abs() < 0.05).float().mean() > 0.97
    assert moved > 3
    uniform = red_ish["B"][0][0]
    assert torch.equal(uniform, red_ish["B"][0][0])
    assert uniform.min() >= 0


class TestFile:
    @pytest.fixture(scope="class")
    @staticmethod
    def root(tmp_path_factory):
        folder = tmp_path_factory.mktemp("shapes")
        write(folder / "3dshapes.h5", rows=range(0, 30))
        return folder

    def test_labels_are_the_published_ones(self):
        table = labels()
        np.testing.assert_allclose(table[0], [0, 0, 0, 0.75, 0, -30])
        np.testing.assert_allclose(table[16], [0, 0, 0, 0.75, 1, -30 + 60 / 14])
        np.testing.assert_allclose(table[-1], [0.9, 0.9, 0.9, 1.25, 3, 30])

    def test_write_and_read(self, root):
        file, drawn = H5Shapes(root / "3dshapes.h5"), RenderedShapes(64)
        assert torch.equal(file.picture(7), drawn.picture(7))
        assert file.picture(31).sum() == 0
        assert torch.equal(pickle.loads(pickle.dumps(file)).picture(7), file.picture(7))
        assert file.runs_quickly()

    @pytest.mark.fast("fork-2")
    @pytest.mark.parametrize(("start", "workers"), [("fork", 2), ("spawn", 1)])
    def test_workers_open_the_file_for_themselves(self, root, start, workers):
        def batches(**options):
            data = Shapes3D(root=root, train_size=12, test_size=6, batch_size=4, **options)
            data.splits.train.source.picture(0)
            return torch.cat([images for images, _ in data.train_dataloader()])

        assert torch.equal(batches(), batches(num_workers=workers, start_method=start))

    def test_pictures_compressed_across_images_are_unpacked_once(self, tmp_path):
        rows = block_rows("B")
        with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
            images = file.create_dataset("images", (COUNT, 64, 64, 3), np.uint8, chunks=(15000, 64, 64, 3), compression="gzip")
            file.create_dataset("labels", data=labels(), compression="gzip")
            images[int(rows[481])] = 77
        assert not H5Shapes(tmp_path / "3dshapes.h5").runs_quickly()
        few = rows[:960]
        unpack(tmp_path / "3dshapes.h5", tmp_path / "few.npy", few)
        source = UnpackedShapes(tmp_path / "few.npy", few)
        assert (source.picture(int(rows[481])) == 77).all()
        assert source.picture(int(rows[480])).sum() == 0
        assert not list(tmp_path.glob("*.part"))

    def test_a_full_disk_is_told_and_leaves_nothing(self, root, tmp_path):
        shutil.copy(root / "3dshapes.h5", tmp_path)
        code = (
            "import resource, sys, torch; from pathlib import Path; from t3cen.data.shapes3d_files import unpacked; "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)); "
            "unpacked(Path(sys.argv[1]), '0' * 64, 'A', torch.arange(480))"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "3dshapes.h5")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "cannot be written (File too large)" in done.stderr
        assert not [*tmp_path.glob("*.part"), *tmp_path.glob("*.npy")]

    def test_missing(self, tmp_path):
        with pytest.raises(DataError, match=r"3dshapes.h5 is missing.*prepare_data.py shapes3d.*data.source=rendered"):
            Shapes3D(root=tmp_path).setup()

    def test_truncated(self, root, tmp_path):
        content = (root / "3dshapes.h5").read_bytes()
        (tmp_path / "3dshapes.h5").write_bytes(content[: len(content) // 2])
        with pytest.raises(DataError, match=r"3dshapes\.h5 cannot be read"):
            Shapes3D(root=tmp_path).setup()

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"images": (10, 64, 64, 3)}, r"images of shape \(10, 64, 64, 3\), \(480000, 64, 64, 3\) expected"),
            ({"labels": (480_000, 6)}, "has no array 'images'"),
            ({"images": (COUNT, 64, 64, 3), "labels": (COUNT, 6)}, "labels in another order"),
        ],
    )
    def test_wrong_contents(self, tmp_path, arrays, message):
        with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
            for name, shape in arrays.items():
                file.create_dataset(
                    name, shape, "u1" if name == "images" else "f8", chunks=(10, *shape[1:]) if name == "images" else None
                )
        with pytest.raises(DataError, match=message):
            Shapes3D(root=tmp_path).setup()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="hue, saturation, hsl, got 'colour'"):
        Shapes3D(variant="colour")
    with pytest.raises(ValueError, match="from files has pictures of 64 pixels only, got image_size=32"):
        Shapes3D(image_size=32)
