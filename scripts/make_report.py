"""`t3cen report`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.report import main

if __name__ == "__main__":
    enter("report", main)
