"""`t3cen status`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.status import main

if __name__ == "__main__":
    enter("status", main)
