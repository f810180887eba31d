"""`t3cen sync`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.sync import main

if __name__ == "__main__":
    enter("sync", main)
