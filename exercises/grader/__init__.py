"""The grader: the wall, the worker behind it, a class, reports, bundles. No student needs it."""
