"""`t3cen demo`, from a checkout."""

import sys

from t3cen.commands.demo import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
