"""What a person calls: `t3cen NAME`, or the script of that name in a checkout (`t3cen.project.SCRIPTS`)."""

import argparse

from t3cen.extras import require

require("suite")


def parser_of(name: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """The parser of `t3cen <name>`, which prints description and epilog as they are."""
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(f"t3cen {name}", description=description, epilog=epilog, formatter_class=layout)
