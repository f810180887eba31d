"""Reading results: records, the cells they fill, and whether those agree with the paper."""

from t3cen.results.records import BadRecord, Record, Results, load, read

__all__ = ["BadRecord", "Record", "Results", "load", "read"]
