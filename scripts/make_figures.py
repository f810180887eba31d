"""`t3cen figures`, from a checkout."""

import sys

from t3cen.commands.figures import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
