"""`t3cen publish`, from a checkout."""

import sys

from t3cen.commands.publish import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
