"""Whether compiled code runs on the CPU: where there is a C compiler, unless somebody says otherwise.

Everything else is PyTorch's own operations, with the same result to rounding. `use("off")`, or `T3CEN_KERNELS=off` in the
environment, makes everything that; with `"on"` a compiler that is missing or fails is an error, and with `"auto"`, the
default, one warning.
"""

from __future__ import annotations

import os

MODES = ("auto", "on", "off")
VARIABLE = "T3CEN_KERNELS"
_chosen: list[str] = []


def use(mode: str) -> None:
    """Say how operations on the CPU run from now on in this process: `"auto"`, `"on"` or `"off"`.

    Raises:
        ValueError: another word.
    """
    if mode not in MODES:
        raise ValueError(f"{VARIABLE}, or kernels.use, must be one of {', '.join(MODES)}, got {mode!r}")
    _chosen[:] = [mode]


def mode() -> str:
    """What was last chosen, or the environment's choice."""
    if not _chosen:
        use(os.environ.get(VARIABLE) or "auto")
    return _chosen[0]


def status() -> str:
    """What runs operations on the CPU here, in words; compiles a line of C to know."""
    from t3cen.ops.cpu import build  # it asks for the mode

    if mode() == "off":
        return "matrix products: switched off"
    reason = build.reason_for_none()
    return f"matrix products: {reason}" if reason else f"compiled: {build.compiler_version()}"
