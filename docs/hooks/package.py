"""The wheel of the package, as users install it."""

import tempfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder
from mkdocs.config.defaults import MkDocsConfig


def built(config: MkDocsConfig) -> tuple[str, bytes]:
    """Return its name and its content."""
    root = str(Path(config.config_file_path).parent)
    with tempfile.TemporaryDirectory() as folder:
        (path,) = WheelBuilder(root).build(directory=folder, versions=["standard"])
        return Path(path).name, Path(path).read_bytes()
