"""The one place where f is called: at x, at points along lines, by workers."""
