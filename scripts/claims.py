"""`t3cen claims`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.claims import main

if __name__ == "__main__":
    enter("claims", main)
