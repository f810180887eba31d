"""What a person calls: `t3cen NAME`, or the script of that name in a checkout (`t3cen.project.SCRIPTS`)."""

from t3cen.extras import require

require("suite")
