"""`t3cen eval`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.eval import main

if __name__ == "__main__":
    enter("eval", main)
