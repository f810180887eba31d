"""`t3cen figures`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.figures import main

if __name__ == "__main__":
    enter("figures", main)
