"""`t3cen.load`: the network of a finished run, ready, from its file alone; nothing in the file is executed."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from runs import job, run_here

import t3cen
from t3cen.figures.networks import network
from t3cen.models import build
from t3cen.training import final, sealed
from t3cen.training.run import make_data

OPTIONS = {"group": "h3", "family": "t3cen", "width": 8, "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4]}
SAVED = final.Saved("resnet18", {"num_classes": 4, **OPTIONS}, ["a", "b", "c", "d"], 32, "0" * 64)


@pytest.fixture
def made(tmp_path):
    """A network and the file it was saved in."""
    network = build("resnet18", num_classes=4, **OPTIONS).eval()
    path = tmp_path / "final.ckpt"
    final.save(path, {f"network.{name}": value for name, value in network.state_dict().items()}, SAVED)
    return network, path


def test_it_computes_what_was_saved_with_its_mean_and_std(made):
    saved, path = made
    images = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    state = torch.get_rng_state()
    loaded = t3cen.load(path)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(loaded(images), saved(images))
    assert (loaded.class_names, loaded.image_size, loaded.training) == (("a", "b", "c", "d"), 32, False)
    for name, weights in loaded.named_parameters():
        assert weights.requires_grad, name


def test_a_run_leaves_one_that_makes_the_errors_of_its_record(tmp_path):
    made = job(tmp_path)
    run_here(made)
    record = json.loads((tmp_path / "result.json").read_text())
    loaded, data = t3cen.load(tmp_path), make_data(made.config)
    assert loaded.class_names == tuple(map(str, data.class_names))
    assert loaded.image_size == data.image_size
    for name, items in data.splits.test.items():
        images, labels = zip(*[items[index] for index in range(len(items))], strict=True)
        correct = (loaded(torch.stack(images)).argmax(1) == torch.tensor(labels)).sum().item()
        assert (correct, len(labels)) == (record["metrics"]["test"][name]["correct"], record["metrics"]["test"][name]["total"])


def test_figures_draw_the_network_of_the_file_or_refuse_it(made):
    saved, path = made
    loaded, told = network("resnet18", "h3", width=8, checkpoint=str(path))
    assert torch.equal(loaded.normalize.mean, saved.normalize.mean)
    assert told == f"weights of {path}"
    for asked in ({"group": "h4"}, {"group": "h3", "width": 16}, {"group": "h3", "width": 8, "cover": "sine"}):
        with pytest.raises(ValueError, match=r"holds another network: its (group|width|cover) is"):
            network("resnet18", checkpoint=str(path), **asked)


class Evil:
    def __reduce__(self):
        return print, ("executed",)


def test_files_of_others_are_refused_and_not_executed(made, capsys):
    _, path = made
    content = sealed.load(path)
    sealed.save({"state_dict": content["state_dict"]}, path)
    with pytest.raises(ValueError, match="does not say what its network is"):
        t3cen.load(path)
    sealed.save({**content, "network": {**content["network"], "backbone": "os.system"}}, path)
    with pytest.raises(ValueError, match=r"makes no such network: unknown network .os\.system."):
        t3cen.load(path)
    sealed.save({**content, "network": Evil()}, path)
    with pytest.raises(ValueError, match="holds more than weights and plain values"):
        t3cen.load(path)
    assert "executed" not in capsys.readouterr().out


def test_weights_of_another_network_are_refused(made):
    saved, path = made
    state = {f"network.{name}": value for name, value in saved.state_dict().items()}
    final.save(path, state, replace(SAVED, arguments={**SAVED.arguments, "width": 16}))
    with pytest.raises(ValueError, match="size mismatch"):
        t3cen.load(path)


def test_importing_the_package_imports_nothing_else():
    code = "import sys, t3cen; sys.exit(bool({'torch', 'numpy', 't3cen.training'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
    import t3cen.training.final

    assert callable(t3cen.load)
