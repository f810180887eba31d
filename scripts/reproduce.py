"""`t3cen reproduce`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.reproduce import main

if __name__ == "__main__":
    enter("reproduce", main)
