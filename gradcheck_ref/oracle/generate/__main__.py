"""Answer the files of the release: ``python -S -m generate``, from the folder above."""

from .files import all_files
from .layout import FOLDER

for name, text in all_files().items():
    (FOLDER / name).write_text(text, encoding="utf-8")
