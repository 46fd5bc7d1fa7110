"""Suites of clauses: what a document asks of a control, a host or a queue, and whether it is seen."""
