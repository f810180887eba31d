"""`t3cen data`, from a checkout."""

from t3cen.commands.data import main
from t3cen.commands.door import enter

if __name__ == "__main__":
    enter("data", main)
