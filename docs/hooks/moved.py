"""At the old address of a page that moved, put one that leads to the new address.

An anchor is kept, for most parts of a page have moved with their names.
"""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

logger = get_plugin_logger(__name__)

# {what it was: what it is}
MOVED = {
    "check/complaints": "check/what_it_is_worth.md#what-people-complained-about",
    "check/kinds_of_mistakes": "reference/kinds.md",
    "compat/blind_spots": "compat/how_libraries_decide.md#what-their-rules-let-through",
    "compat/from_cs231n": "compat/coming_from.md#cs231n",
    "compat/from_jax": "compat/coming_from.md#jax",
    "compat/from_tvm": "compat/coming_from.md#tvm",
    "compat/from_warp": "compat/coming_from.md#warp",
    "compat/torch_operators": "found.md#torchs-own-operators",
    "exercises/new_exercise": "exercises/instructors.md",
    "exercises/submissions": "exercises/platforms.md",
    "exercises/wrong_answers": "exercises/instructors.md",
    "first_client": "judge.md#write-a-client-in-an-hour",
    "found_in_science": "found.md",
    "kill_matrix": "zoo.md#the-kill-matrix",
    "reference/oracle_coverage": "reference/oracle_results.md",
    "reference/sentences": "reference/kinds.md#all-sentences",
    "reference/zoo": "zoo.md",
    "slides/1_rounding": "slides/1_to_3.md#lecture-1",
    "slides/2_tolerance": "slides/1_to_3.md#lecture-2",
    "slides/3_step": "slides/1_to_3.md#lecture-3",
    "slides/4_chain_rule": "slides/4_to_6.md#lecture-4",
    "slides/5_network": "slides/4_to_6.md#lecture-5",
    "slides/6_hiding_places": "slides/4_to_6.md#lecture-6",
    "slides/7_checkers": "slides/7_to_9.md#lecture-7",
    "slides/8_layers": "slides/7_to_9.md#lecture-8",
    "slides/9_lines": "slides/7_to_9.md#lecture-9",
    "wild": "found.md",
}
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{old} has moved</title>
<meta name="description" content="{old} has moved.">
<meta name="robots" content="noindex">
<script>location.replace("{new}" + (location.hash || "{anchor}"))</script>
<meta http-equiv="refresh" content="0; url={new}{anchor}">
</head>
<body><a href="{new}{anchor}">It has moved.</a></body>
</html>
"""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages; a strict build fails if one leads nowhere."""
    if config.theme["language"] != "en":
        return
    for old, new in MOVED.items():
        name, hash_, anchor = new.partition("#")
        target = files.get_file_from_path(name)
        if target is None or files.get_file_from_path(f"{old}.md"):
            logger.warning(f"{old} cannot lead to {new}")
            continue
        address = f"{old}/" if config.use_directory_urls else f"{old}.html"
        place = f"{old}/index.html" if config.use_directory_urls else address
        new = get_relative_url(target.url, address)
        page = PAGE.format(old=old, new=new, anchor=hash_ + anchor)
        files.append(File.generated(config, place, content=page))
