"""`t3cen status`, from a checkout."""

import sys

from t3cen.commands.status import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
