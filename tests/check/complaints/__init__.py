"""What people complained about: a row for each thread, in files by the cause."""

from . import calls, formulas, handed, kinks, precision

ROWS = [row for module in (precision, kinks, calls, formulas, handed) for row in module.ROWS]
