"""Train and test one network, or every run of a table."""

from t3cen.training.signals import heed

heed()  # the rest takes a moment to import

import hydra  # noqa: E402
from omegaconf import DictConfig  # noqa: E402

from t3cen.commands import enter  # noqa: E402
from t3cen.project import conf_dir  # noqa: E402
from t3cen.training.command import command_line  # noqa: E402


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="train")
def train(config: DictConfig) -> None:
    """Hydra's task."""
    from t3cen.training.job import execute  # here: launchers call this in processes that have imported nothing

    execute(config)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, which Hydra takes from the process."""
    command_line(train)


if __name__ == "__main__":
    enter("train", main)
