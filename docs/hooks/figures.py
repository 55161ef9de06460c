"""Leave out the scripts of live figures that a page does not have: most are for one page alone."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "assets" / "figures"
SCRIPT = re.compile(r'<script src="[^"]*assets/figures/(\w+\.js)"></script>')
KIT = "kit.js"  # also for questions, and for what exercises draw


def on_post_page(output: str, **_: object) -> str:
    """Keep the scripts that the figures of the page need."""
    kept = needed_by(set(re.findall(r'data-figure="?(\w+)', output)))
    return SCRIPT.sub(lambda tag: tag[0] if tag[1] in kept else "", output)


def needed_by(shown: set[str]) -> set[str]:
    """Return the scripts of these figures, and those whose numbers they use."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js")}

    def with_any(pattern: str, names: set[str]) -> set[str]:
        found = {name: set(re.findall(pattern, source, re.M)) for name, source in sources.items()}
        return {name for name in sources if found[name] & names}

    kept, more = {KIT}, with_any(r'^figures\.add\("(\w+)"', shown)
    while more:
        kept |= more
        used = {word for name in more for word in re.findall(r"\bfigures\.(\w+)", sources[name])}
        more = with_any(r"^figures\.(\w+) = ", used) - kept
    return kept
