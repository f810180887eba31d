"""`t3cen publish`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.publish import main

if __name__ == "__main__":
    enter("publish", main)
