"""How people get a gradient wrong, and what mends it: one table. It needs numpy alone."""
