"""The grader: the wall, the worker behind it, a class, reports, bundles. No student needs it.

Modules are imported by their names, not from here: behind the wall there are only ``worker``,
``kernel`` and ``wire``.
"""
