"""The training task: exact counting, named sets, seeded batch augmentation."""

import pytest
import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F

from t3cen.ops.late import Late
from t3cen.task import Classification, Tally


def logits_for(predictions, classes=3):
    return 5.0 * F.one_hot(torch.tensor(predictions), classes).float()


def test_error_is_counted_over_samples_not_averaged_over_batches():
    tally = Tally()
    tally.update(logits_for([0, 1, 2, 0]), torch.tensor([0, 1, 2, 1]))
    tally.update(logits_for([1]), torch.tensor([2]))
    values = tally.compute()
    assert (values["correct"], values["total"]) == (3, 5)
    assert values["error"] == pytest.approx(2 / 5)  # the mean of the batch errors would be 5/8


def test_loss_is_the_mean_over_samples():
    logits, labels = torch.randn(7, 4), torch.randint(0, 4, (7,))
    tally = Tally()
    for part in (slice(0, 5), slice(5, 7)):
        tally.update(logits[part], labels[part])
    assert tally.compute()["loss"] == pytest.approx(float(F.cross_entropy(logits, labels)), rel=1e-6)


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric Tally")
def test_an_empty_set_is_an_error():
    with pytest.raises(ValueError, match="no sample"):
        Tally().compute()


def task(**options):
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
    loss = options.pop("loss", lambda net, images, labels: F.cross_entropy(net(images), labels))
    return Classification(network, lambda p: torch.optim.SGD(p, 0.1), None, loss, **options)


def test_counters_are_no_weights():
    assert set(task(test_names=("A", "B")).state_dict()) == {"network.1.weight", "network.1.bias"}


def test_softmax_is_not_applied_before_the_loss():
    seen = []
    module = task(loss=lambda net, images, labels: seen.append(net(images)) or net(images).sum())
    images = torch.rand(4, 3, 2, 2)
    module.log = lambda *_, **__: None
    module.training_step((images, torch.zeros(4, dtype=torch.long)), 0)
    torch.testing.assert_close(seen[0], module.network(images))


def test_a_loss_that_is_not_finite_stops_the_run_and_says_where():
    module = task(loss=lambda *_: torch.tensor(float("nan")))
    with pytest.raises(FloatingPointError, match=r"nan at step 0; lower optimizer\.lr"):
        module.training_step((torch.rand(1, 3, 2, 2), torch.zeros(1, dtype=torch.long)), 0)


def test_batch_augmentation_is_a_function_of_seed_and_step():
    def noise(images, generator):
        return images + torch.rand(images.shape, generator=generator)

    seen = []
    images = torch.zeros(2, 3, 2, 2)
    for seed in (1, 1, 2):
        module = task(loss=lambda net, x, y: seen.append(x) or net(x).sum(), batch_augment=noise, seed=seed)
        module.log = lambda *_, **__: None
        module.training_step((images, torch.zeros(2, dtype=torch.long)), 0)
    torch.testing.assert_close(seen[0], seen[1])
    assert not torch.equal(seen[0], seen[2])


@pytest.mark.parametrize(("accumulated", "alike"), [(1, True), (2, False)])
def test_the_batches_of_one_step_are_augmented_each_its_own_way(accumulated, alike):
    seen = []
    augment = lambda images, generator: seen.append(torch.rand(2, generator=generator)) or images  # noqa: E731
    module = task(batch_augment=augment, seed=1)
    module.log = lambda *_, **__: None
    module.trainer = pl.Trainer(accumulate_grad_batches=accumulated, accelerator="cpu", logger=False, enable_checkpointing=False)
    for at in range(2):
        module.training_step((torch.zeros(2, 3, 2, 2), torch.zeros(2, dtype=torch.long)), at)
    assert torch.equal(*seen) == alike
    words = (1, 0, 0) if alike else (1, 0, 0, 0)
    assert torch.equal(seen[0], torch.rand(2, generator=torch.Generator().manual_seed(hash(words) % 2**63)))


@pytest.mark.parametrize("stage", ["validation", "test"])
def test_answers_that_are_no_numbers_are_an_error_that_names_the_set(stage):
    module = task(test_names=("A", "B"), validation_names=("A", "B"))
    module.log_dict = lambda *_, **__: None
    batch = torch.rand(2, 3, 2, 2), torch.zeros(2, dtype=torch.long)
    getattr(module, f"{stage}_step")(batch, 0, 0)
    getattr(module, f"{stage}_step")((batch[0] * float("nan"), batch[1]), 0, 1)
    with pytest.raises(FloatingPointError, match=f"the loss on the {stage} set 'B' is nan"):
        getattr(module, f"on_{stage}_epoch_end")()


class Waiting(Late):
    """As on a GPU: nothing has arrived before somebody waits."""

    def __init__(self, check):
        super().__init__(check)
        self.put = lambda *numbers: self.waiting.append(numbers)
        self.waiting = []

    def look(self, *, wait=False):
        while wait and self.waiting:
            losses, *about = self.waiting.pop(0)
            self.check(losses.tolist(), *about)


@pytest.mark.parametrize("door", ["on_train_end", "on_save_checkpoint"])
def test_no_checkpoint_and_no_end_comes_before_the_last_loss_was_looked_at(door):
    module = task(loss=lambda *_: torch.tensor(float("inf")))
    module.log = lambda *_, **__: None
    module._losses = Waiting(module._losses.check)
    module.training_step((torch.rand(1, 3, 2, 2), torch.zeros(1, dtype=torch.long)), 0)
    with pytest.raises(FloatingPointError, match="inf at step 0"):
        getattr(module, door)(*[{}][: door == "on_save_checkpoint"])
