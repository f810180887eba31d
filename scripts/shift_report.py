"""`t3cen shift-report`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.shift_report import main

if __name__ == "__main__":
    enter("shift-report", main)
