"""What is claimed: gradients and products, as one matrix, and the identities that they obey."""
