"""`t3cen tables`, from a checkout."""

import sys

from t3cen.commands.tables import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
