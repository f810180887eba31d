"""`t3cen deepaugment`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.deepaugment import main

if __name__ == "__main__":
    enter("deepaugment", main)
