"""Train and test one network, or every run of a table: `python train.py --help`."""

from t3cen.training.signals import heed

heed()  # the rest takes a moment to import

import hydra  # noqa: E402
from omegaconf import DictConfig  # noqa: E402

from t3cen.training.command import command_line  # noqa: E402


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(config: DictConfig) -> None:
    from t3cen.training.job import execute  # here: launchers call this in processes that have imported nothing

    execute(config)


if __name__ == "__main__":
    command_line(main)
