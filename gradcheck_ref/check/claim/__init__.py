"""The claim to be checked, as one matrix, and the identities that products must obey."""
