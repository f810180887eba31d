"""What a table file may say; declared with the experiments, which are made from the same files."""

from t3cen.experiments.schema import TABLE_DIR, Column, Row, Section, Table, get_table, parse, tables

__all__ = ["TABLE_DIR", "Column", "Row", "Section", "Table", "get_table", "parse", "tables"]
