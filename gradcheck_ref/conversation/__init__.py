"""Exchange lines of text with another process: the messages, and a child that may misbehave."""
