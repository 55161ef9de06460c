"""Name the mistake that a wrong gradient looks like."""
