"""`t3cen demo`, from a checkout."""

from t3cen.commands.demo import main
from t3cen.commands.door import enter

if __name__ == "__main__":
    enter("demo", main)
