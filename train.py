"""Train and test one network, or every run of a table.

    python train.py experiment=camelyon_s4                     one run of the paper
    python train.py experiment=mnist_h4 scale=laptop seed=2000 smaller, another seed
    python train.py --multirun experiment=mnist_h4,mnist_z2cnn seed=1999,2000,2001
    python train.py sweep=hue_shift                            a whole table
"""

import sys

import hydra
from omegaconf import DictConfig

from t3cen.experiments import register
from t3cen.training.folders import register_resolvers

register()
register_resolvers()


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(config: DictConfig) -> None:
    from t3cen.training.job import execute  # here, so that --help does not wait for torch

    execute(config)


if __name__ == "__main__":
    main()
    sweep_status = sys.modules.get("t3cen.training.sweep")
    sys.exit(sweep_status.exit_status() if sweep_status else 0)
