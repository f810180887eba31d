"""Early stopping: training ends when validation does not get better."""

from __future__ import annotations

import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping as Lightning


class EarlyStopping(Lightning):
    """Lightning's, which also stays stopped: a run that is gone on with after its training ended does not train on.

    Args: Lightning's, such as `monitor` (a logged error, `validation/<set>/error`), `patience` (in validations), `min_delta`.
    """

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.stopped_epoch:
            trainer.should_stop = True
