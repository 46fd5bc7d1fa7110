"""Tuning: a search for the parameters of an algorithm, judged on runs that the search did not use."""
