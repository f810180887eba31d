"""Tables: what they declare, and how they are printed beside the paper's."""

from t3cen.extras import require

require("suite")
