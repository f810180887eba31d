"""Train and test one network, or every run of a table: `python train.py --help`."""

import hydra
from omegaconf import DictConfig

from t3cen.training.command import command_line


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(config: DictConfig) -> None:
    from t3cen.training.job import execute  # here: launchers call this in processes that have imported nothing

    execute(config)


if __name__ == "__main__":
    command_line(main)
