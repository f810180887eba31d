"""`t3cen data`, from a checkout."""

import sys

from t3cen.commands.data import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
