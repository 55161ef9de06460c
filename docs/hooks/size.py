"""Leave out what Material ships and this site does not use: half of its size."""

import shutil
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


def on_post_build(config: MkDocsConfig) -> None:
    """Remove the search in languages other than English, maps for developers, a second index."""
    scripts = Path(config.site_dir, "assets", "javascripts")
    shutil.rmtree(scripts / "lunr")
    for source_map in Path(config.site_dir, "assets").rglob("*.map"):
        source_map.unlink()
    # Pages that open without a server have the index as a script, and never ask for this one.
    index = Path(config.site_dir, "search", "search_index.json")
    if index.with_suffix(".js").exists():
        index.unlink()
