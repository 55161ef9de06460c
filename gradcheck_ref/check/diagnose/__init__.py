"""What mistake a wrong gradient looks like."""
