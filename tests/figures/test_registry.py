import subprocess
import sys

import pytest

from t3cen.figures import registry


@pytest.mark.parametrize("name", registry.names())
def test_every_figure_is_composed_and_names_a_function(name):
    from hydra.utils import get_method

    config = registry.configure(name)
    assert get_method(config.figure._target_).__doc__
    assert config.figure.caption.endswith(".")


@pytest.mark.fast("*-laptop")
@pytest.mark.parametrize("scale", ["paper", "laptop", "smoke"])
@pytest.mark.parametrize("name", registry.names())
def test_the_data_sets_of_every_figure_compose_at_every_scale(name, scale):
    from omegaconf import OmegaConf

    from t3cen.experiments.composition import compose_with

    left = [OmegaConf.to_container(registry.configure(name, [f"scale={scale}"]).figure, resolve=True)]
    while left:
        node = left.pop()
        left += [value for value in node.values() if isinstance(value, dict)]
        data = node.get("where") or node.get("name")
        if data and "overrides" in node:
            assert node["scale"] == scale
            compose_with([f"data={data}", f"scale={scale}", "name=figure", *node["overrides"]])


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("lifting_error", "figure.images.where=some/folder"),
        ("lifting_cartoon", "figure.images.size=96"),
        ("equivariance_error", "figure.images.overrides=[]"),
        ("feature_maps_scale", "figure.checkpoints.t3cen=outputs/laptop/some_run/seed1999/checkpoints/final.ckpt"),
        ("feature_maps_hue", "figure.width=null"),
        ("angle", 'figure.runs.settings=["backbone=z2cnn","trainer.max_steps=400"]'),
        ("degradation", "figure.seeds=[1999]"),
    ],
)
def test_the_settings_of_the_documentation_compose(name, setting):
    registry.configure(name, [setting])


def test_an_unknown_figure_is_named_with_the_nearest():
    with pytest.raises(ValueError, match="'coverag'; did you mean coverage"):
        registry.configure("coverag")


def test_overrides_reach_the_figure_and_the_record(tmp_path):
    paths, numbers = registry.make("coverage", ["figure.order=3", "figure.covers=[sine]", f"figures={tmp_path}"], "the command")
    assert numbers["order"] == 3
    assert set(numbers) == {"order", "pieces", "sine"}
    assert '"order": 3' in paths["json"].read_text()
    assert paths["pdf"].read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("scale", ["paper", "laptop", "smoke"])
def test_scale_means_what_it_means_in_training(scale):
    config = registry.configure("training_cost", [f"scale={scale}"])
    assert config.scale == config.figure.protocol == scale


def test_listing_the_figures_does_not_load_matplotlib():
    code = "import sys, t3cen.figures.registry as r; r.names(); print(sorted({'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_small_is_true_or_false(tmp_path):
    with pytest.raises(ValueError, match="small must be true or false, got 'maybe'"):
        registry.make("gain_error", ["small=maybe", f"figures={tmp_path}"], "figures")
    assert not list(tmp_path.iterdir())
