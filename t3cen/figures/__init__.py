"""Every figure of the paper, and some of our own: one file each, one function `draw(...) -> (figure, numbers)`."""

from t3cen.extras import require

require("suite")
