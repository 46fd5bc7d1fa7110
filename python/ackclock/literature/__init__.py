"""Papers: their files, runs, charts, printed tables, verdicts and reports."""
