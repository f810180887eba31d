import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torchvision.utils import save_image

from t3cen.analysis import recommend_folder
from t3cen.color import hsl_to_rgb

SCRIPT = Path(__file__).parents[2] / "scripts" / "recommend_order.py"


def _fill(folder, hue, count=6, saturation=0.7, seed=0):
    folder.mkdir(parents=True)
    rng = torch.Generator().manual_seed(seed)
    for at in range(count):
        own = torch.tensor([hue, saturation, 0.4])[:, None, None] + 0.05 * torch.rand(3, 12, 14, generator=rng)
        save_image(hsl_to_rgb(own), folder / f"{at}.png")


def test_train_and_deployment_folders_with_classes(tmp_path):
    for at, name in enumerate(("a", "b")):
        _fill(tmp_path / "train" / name, 0.1, seed=at)
        _fill(tmp_path / "deployment" / name, 0.5, seed=at)
    found = recommend_folder(tmp_path, groups=("h4", "s4", "l4"), pixels=64)
    assert found.group == "h4"
    assert found.signals is not None
    assert not found.moves_between_images


def test_two_folders_without_classes(tmp_path):
    _fill(tmp_path / "one", 0.1, saturation=0.8)
    _fill(tmp_path / "two", 0.1, saturation=0.3, seed=1)
    found = recommend_folder(tmp_path / "one", tmp_path / "two", groups=("h4", "s4", "l4"), pixels=64)
    assert found.group == "s4"
    assert found.signals is None


def test_one_folder_whose_classes_are_colours_warns(tmp_path):
    _fill(tmp_path / "ripe", 0.0)
    _fill(tmp_path / "unripe", 0.3, seed=1)
    found = recommend_folder(tmp_path, groups=("h4", "s4", "l4"), pixels=64)
    assert found.color_is_signal
    assert found.moves_between_images


def test_deployment_may_be_one_image(tmp_path):
    for at, name in enumerate(("a", "b")):
        _fill(tmp_path / "train" / name, 0.1, seed=at)
    _fill(tmp_path / "there", 0.5)
    found = recommend_folder(tmp_path / "train", tmp_path / "there" / "0.png", groups=("h4", "s4", "l4"), pixels=64)
    assert found.group == "h4"


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        recommend_folder(tmp_path / "nowhere")


@pytest.mark.slow
def test_the_command(tmp_path):
    _fill(tmp_path / "data" / "train", 0.1)
    _fill(tmp_path / "data" / "test", 0.5, seed=1)
    command = [sys.executable, str(SCRIPT), str(tmp_path / "data"), "--output", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Recommended: T³CEN-H" in done.stdout
    assert "Candidate groups" in done.stdout
    record = json.loads((tmp_path / "out" / "recommendation.json").read_text())
    group = record["numbers"]["group"]
    assert group.startswith("h")
    assert f"python train.py data=folder data.root={tmp_path / 'data'} model=t3cen model.group={group}\n" in done.stdout
    assert (tmp_path / "out" / "recommendation.png").stat().st_size > 10_000
    wrong = subprocess.run([*command[:2], str(tmp_path / "nowhere")], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("error: no folder")
