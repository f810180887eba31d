"""`t3cen deepaugment`, from a checkout."""

import sys

from t3cen.commands.deepaugment import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
