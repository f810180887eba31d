"""Every experiment of every table, at smoke scale: it composes, trains a step and is tested on every test set it announces.

Data without a source of their own come from format-faithful fakes. One run per data set goes through the whole of `run`.
"""

from dataclasses import replace

import pytest
import torch

from t3cen.augment.deepaugment import folder_of
from t3cen.augment.generate import generate
from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.experiments.record import read
from t3cen.task import Tally
from t3cen.training.plan import Job
from t3cen.training.run import make_data, make_network, make_task, run

RUNS = all_runs()
ONE_OF_EACH_DATA = {run.data: name for name, run in sorted(RUNS.items(), reverse=True)}


def composed(name, root):
    """What `experiment=<name> scale=smoke data_root=<root> logger.wandb=off` composes to, and in a hundredth of Hydra's time."""
    run = RUNS[name]
    return compose(replace(run, settings={**run.settings, "data_root": str(root), "logger.wandb": "off"}), "smoke")


def disturb(config):
    """Make DeepAugment's pictures, as scripts/generate_deepaugment.py would."""
    data = make_data(config | {"augment": None})
    train = data.splits.train
    folder = folder_of(config["augment"]["name"], config["data_root"])
    generate(train.source, train.indices.tolist(), folder, steps=1, batch_size=2, crop=16, largest=32)


def test_trains_a_step_and_is_tested(experiment, fakes):
    config = composed(experiment, fakes)
    data = make_data(config)
    if RUNS[experiment].augment == "deepaugment":
        disturb(config)
    network = make_network(config, data)
    task = make_task(config, data, network)
    assert config["name"] == experiment
    images, labels = next(iter(data.train_dataloader()))
    before = [p.detach().clone() for p in network.parameters()]
    optimizer = task.optimizer_factory(network.parameters())
    task.log = lambda *_, **__: None
    task.training_step((images, labels), 0).backward()
    for parameter_name, parameter in network.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name
    optimizer.step()
    assert any(not torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))
    network.eval()
    loaders = data.test_dataloader()
    assert len(loaders) == len(data.test_names) > 0
    with torch.no_grad():
        for test, loader in zip(data.test_names, loaders, strict=True):
            tally = Tally()
            for batch, truth in loader:
                tally.update(network(batch), truth)
            assert tally.compute()["total"] == len(data.splits.test[test])


def one_of_each_data():
    """An experiment of each data set; slow are those with pictures that another one has too, such as shapes3d_hue and _sat."""
    seen = set()
    for data, name in sorted(ONE_OF_EACH_DATA.items()):
        pictures = data.partition("_")[0]
        yield pytest.param(name, marks=pytest.mark.slow if pictures in seen else ())
        seen.add(pictures)


@pytest.mark.parametrize("name", list(one_of_each_data()))
def test_leaves_a_whole_record(name, fakes, tmp_path):
    record = read(run(Job(composed(name, fakes), tmp_path, ())))
    assert record.name == name
    assert record.scale == "smoke"
    assert all(values["total"] > 0 for values in record.tests.values())
