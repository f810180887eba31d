"""`t3cen recommend`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.recommend import main

if __name__ == "__main__":
    enter("recommend", main)
