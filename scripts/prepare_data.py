"""`t3cen data`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.data import main

if __name__ == "__main__":
    enter("data", main)
