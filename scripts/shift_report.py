"""`t3cen shift-report`, from a checkout."""

import sys

from t3cen.commands.shift_report import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
