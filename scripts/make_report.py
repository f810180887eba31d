"""`t3cen report`, from a checkout."""

import sys

from t3cen.commands.report import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
