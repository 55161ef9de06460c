"""What a check may hide: mistakes that a point, or a test, cannot show."""
