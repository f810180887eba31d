import subprocess
import sys

import pytest

from t3cen.figures import registry


@pytest.mark.parametrize("name", registry.names())
def test_every_figure_is_composed_and_names_a_function(name):
    from hydra.utils import get_method

    config = registry.configure(name)
    assert get_method(config.figure._target_).__doc__


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
