"""What is claimed, held against what was measured: the rule and the search for evidence."""
