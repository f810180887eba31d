"""`t3cen equivariance`, from a checkout."""

import sys

from t3cen.commands.equivariance import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
