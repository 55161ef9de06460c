"""Leave out what Material ships and this site does not use: half of its size."""

import shutil
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


def on_post_build(config: MkDocsConfig) -> None:
    """Remove the search in languages other than English, and maps for developers."""
    scripts = Path(config.site_dir, "assets", "javascripts")
    shutil.rmtree(scripts / "lunr")
    for source_map in Path(config.site_dir, "assets").rglob("*.map"):
        source_map.unlink()
