"""`t3cen predict`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.predict import main

if __name__ == "__main__":
    enter("predict", main)
