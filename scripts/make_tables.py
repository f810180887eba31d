"""`t3cen tables`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.tables import main

if __name__ == "__main__":
    enter("tables", main)
