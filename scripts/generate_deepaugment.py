"""`t3cen deepaugment`, from a checkout."""

from t3cen.commands.deepaugment import main
from t3cen.commands.door import enter

if __name__ == "__main__":
    enter("deepaugment", main)
