"""Reading results: records, cells, and whether they agree with the paper."""
