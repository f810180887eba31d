"""The training task: a network, its loss and its optimiser, counted sample by sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torchmetrics import Metric

from t3cen.ops.late import Late

OptimizerFactory = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
SchedulerFactory = Callable[[torch.optim.Optimizer, int], torch.optim.lr_scheduler.LRScheduler]
BatchAugment = Callable[[Tensor, torch.Generator], Tensor]


class Tally(Metric):
    """Correct predictions, samples and summed loss over a whole set, summed over processes too."""

    correct: Tensor
    total: Tensor
    loss: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name in ("correct", "total"):
            self.add_state(name, torch.zeros((), dtype=torch.long), dist_reduce_fx="sum")
        self.add_state("loss", torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, logits: Tensor, labels: Tensor) -> None:
        self.correct += (logits.argmax(dim=1) == labels).sum()
        self.total += labels.numel()
        self.loss += nn.functional.cross_entropy(logits.float(), labels, reduction="sum").double()

    def compute(self) -> dict[str, float | int]:
        """`error` as a fraction, `correct`, `total` and the mean cross-entropy `loss`."""
        correct, total = int(self.correct), int(self.total)
        if not total:
            raise ValueError("no sample was evaluated")
        return {"error": 1 - correct / total, "correct": correct, "total": total, "loss": float(self.loss) / total}


def _refuse_loss(losses: list[float], step: int) -> None:
    if not math.isfinite(losses[0]):
        raise FloatingPointError(f"the training loss is {losses[0]} at step {step}; lower optimizer.lr or look at the data")


class Classification(pl.LightningModule):
    """Train a classifier and evaluate it on several named sets.

    Args:
        network: `(B, 3, H, W)` RGB in [0, 1] -> logits `(B, classes)`.
        optimizer: makes the optimiser from the parameters.
        scheduler: makes a per-step schedule from the optimiser and the number of steps, or None.
        loss: `(network, images, labels) -> scalar`; `images` is what the data set's augmentation made, a tensor or
            a tuple of views.
        batch_augment: changes a training batch on its device before the network sees it, or None; its randomness is
            a function of `seed` and the step.
        seed: of the batch augmentation.
        validation_names, test_names: the sets, in the order of the data module's loaders.
        compile: whether training runs the network through `torch.compile`; evaluation never does.

    Raises:
        FloatingPointError: in training, a loss that is not finite; on a GPU, where no step waits for its loss, a few steps later.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: OptimizerFactory,
        scheduler: SchedulerFactory | None,
        loss: Callable[..., Tensor],
        *,
        batch_augment: BatchAugment | None = None,
        seed: int = 0,
        validation_names: Sequence[str] = (),
        test_names: Sequence[str] = (),
        compile: bool = False,
    ) -> None:
        super().__init__()
        self.network = network
        self.optimizer_factory = optimizer
        self.scheduler_factory = scheduler
        self.loss = loss
        # In a tuple: as an attribute a module is registered, and its weights saved under a second name.
        # Code for each size of a batch: made for any size, it would depend on which came first, and a resumed run differ.
        self._trained = (torch.compile(network, dynamic=False) if compile else network,)
        self._losses = Late(_refuse_loss)
        self.batch_augment = batch_augment
        self.seed = seed
        self.names = {"validation": tuple(validation_names), "test": tuple(test_names)}
        self.tallies = {stage: [Tally() for _ in names] for stage, names in self.names.items()}
        # Registered, so that Lightning moves them to the device; Tally keeps nothing in the state dict.
        self.counters = nn.ModuleList(tally for tallies in self.tallies.values() for tally in tallies)
        self.results: dict[str, dict[str, dict[str, float | int]]] = {}

    def forward(self, rgb: Tensor) -> Tensor:
        return self.network(rgb)

    def configure_optimizers(self) -> Any:
        optimizer = self.optimizer_factory(self.network.parameters())
        if self.scheduler_factory is None:
            return optimizer
        schedule = self.scheduler_factory(optimizer, int(self.trainer.estimated_stepping_batches))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, batch: tuple[Any, Tensor], batch_idx: int) -> Tensor:
        images, labels = batch
        if self.batch_augment is not None:
            generator = torch.Generator(device=self.device)
            # A function of seed, step and process alone, so that a resumed run sees what the uninterrupted one saw.
            words: tuple[int, ...] = (self.seed, self.global_step, self.global_rank)
            if self._trainer is not None and self.trainer.accumulate_grad_batches > 1:
                words += (batch_idx,)  # a step is several batches
            generator.manual_seed(hash(words) % 2**63)
            augment = self.batch_augment
            images = tuple(augment(v, generator) for v in images) if isinstance(images, tuple) else augment(images, generator)
        loss = self.loss(self._trained[0], images, labels)
        self._losses.put(loss.detach().reshape(1), self.global_step)
        self.log("train/loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def on_train_end(self) -> None:
        self._losses.look(wait=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._losses.look(wait=True)  # a run goes on only from where its loss was finite

    def _tally(self, stage: str, batch: tuple[Tensor, Tensor], index: int) -> None:
        images, labels = batch[0], batch[1]
        self.tallies[stage][index].update(self.network(images), labels)

    def _report(self, stage: str) -> None:
        self.results[stage] = {}
        for name, tally in zip(self.names[stage], self.tallies[stage], strict=True):
            self.results[stage][name] = values = tally.compute()
            if not math.isfinite(values["loss"]):
                raise FloatingPointError(f"the loss on the {stage} set {name!r} is {values['loss']}; lower optimizer.lr")
            tally.reset()
            self.log_dict({f"{stage}/{name}/error": values["error"], f"{stage}/{name}/loss": values["loss"]})

    def validation_step(self, batch: tuple[Tensor, Tensor], batch_idx: int, dataloader_idx: int = 0) -> None:
        self._tally("validation", batch, dataloader_idx)

    def on_validation_epoch_end(self) -> None:
        self._report("validation")

    def test_step(self, batch: tuple[Tensor, Tensor], batch_idx: int, dataloader_idx: int = 0) -> None:
        self._tally("test", batch, dataloader_idx)

    def on_test_epoch_end(self) -> None:
        self._report("test")
