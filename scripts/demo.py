"""`t3cen demo`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.demo import main

if __name__ == "__main__":
    enter("demo", main)
