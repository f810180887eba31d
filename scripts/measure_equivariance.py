"""`t3cen equivariance`, from a checkout."""

from t3cen.commands import enter
from t3cen.commands.equivariance import main

if __name__ == "__main__":
    enter("equivariance", main)
