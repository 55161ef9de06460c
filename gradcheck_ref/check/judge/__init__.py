"""Compare the claims with the measurements: the rule, and the search for evidence."""
