"""`t3cen recommend`, from a checkout."""

import sys

from t3cen.commands.recommend import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
