"""Write the vector files: ``python -S -m generate``, from the folder above."""

from pathlib import Path

from . import all_files

for name, text in all_files().items():
    (Path(__file__).parents[1] / "vectors" / "v1" / name).write_text(text, encoding="utf-8")
