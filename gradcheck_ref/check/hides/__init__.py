"""Find the mistakes that the point of a check, or a test, cannot show."""
