"""Compiled kernels for the CPU; importing them registers them with the operators."""

from t3cen.ops.cpu import norm, products, relu, transform  # noqa: F401
