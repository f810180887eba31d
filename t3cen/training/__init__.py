"""Training one run: from a composed configuration to a folder with a complete result."""
