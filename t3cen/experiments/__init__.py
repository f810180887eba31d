"""What there is to run, and what makes two runs the same: tables, runs, their configurations, their code, their records.

Nothing here imports a room of t3cen above it. This file brings in Hydra and YAML only, so that `train.py --help` starts at once.
"""

from t3cen.experiments.names import help_footer, register
from t3cen.experiments.runs import Run, all_runs, run_of, runs_of, trained_tables

__all__ = ["Run", "all_runs", "help_footer", "register", "run_of", "runs_of", "trained_tables"]
