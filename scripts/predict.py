"""`t3cen predict`, from a checkout."""

import sys

from t3cen.commands.predict import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
