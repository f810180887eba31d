"""Train and test one network, or every run of a table: `python train.py --help`."""

from t3cen.commands import enter
from t3cen.commands.train import main

if __name__ == "__main__":
    enter("train", main)
