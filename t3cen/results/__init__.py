"""Reading results: records, the cells they fill, and whether those agree with the paper."""

from t3cen.experiments.record import BadRecord, Record, read
from t3cen.results.records import Results, load

__all__ = ["BadRecord", "Record", "Results", "load", "read"]
