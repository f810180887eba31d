"""Cross-entropy that takes its time, so that a small run is at work for longer than a cluster's shortest time limit."""

import time
from typing import Any

from t3cen.loss import cross_entropy

SECONDS = 1.0


def loss(network: Any, images: Any, labels: Any) -> Any:
    time.sleep(SECONDS)
    return cross_entropy(network, images, labels)
