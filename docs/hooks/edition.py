"""The site in another language, in a folder of its own: `mkdocs build` builds both.

`mkdocs.zh.yml` has the settings of the Chinese edition, `docs/zh` its pages. A page has the path
of its original, which has the blocks of code, the ids of headings, and what is no word in the
settings (see in_step.py). What is not translated is linked to in English. Every file that is no
page exists once, in the English site.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from in_step import DOCS, HEADING, LANGUAGES, SETTINGS, filled, places_for_blocks, text_of
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markdown import Markdown
from markupsafe import Markup
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from mkdocs.utils.meta import get_data
from mkdocs.utils.templates import script_tag_filter, url_filter

logger = get_plugin_logger(__name__)

NAMES = {"en": "English", "zh": "中文"}
ENGLISH = "english:"  # before the path of a page that is not translated, until it has its address
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
INCLUDED = re.compile(r"^--8<--\ndocs/(\S+\.md)\n--8<--$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> None:
    """Find the pages of a translation, in the order of the original's navigation."""
    if not _is_translation(config):
        return
    names = config.extra["names"]
    there = {page.relative_to(config.docs_dir).as_posix() for page in _pages_of(config)}
    config.nav = [*_chosen(config.nav, names, there)]
    config.mdx_configs["toc"]["permalink_title"] = config.extra["permalink"]
    config.theme.static_templates.discard("404.html")  # the server knows one
    config.extra_javascript.insert(0, f"assets/words.{config.theme['language']}.js")
    _teach_words(_pages_of(config))


def _is_translation(config: MkDocsConfig) -> bool:
    return config.theme["language"] in LANGUAGES


def _pages_of(config: MkDocsConfig) -> list[Path]:
    return sorted(Path(config.docs_dir).rglob("*.md"))


def _chosen(nav: list[Any], names: dict[str, str], there: set[str]) -> Iterator[Any]:
    """Keep the pages that are there, under their names, or else under their own titles."""
    for item in nav:
        ((name, place),) = item.items()
        if isinstance(place, list):
            if inside := [*_chosen(place, names, there)]:
                yield {names[name]: inside}
        elif place in there:
            yield {names[name]: place} if name in names else place


def _teach_words(pages: list[Path]) -> None:
    """Have the search know the terms: the tags of all pages."""
    import jieba  # only a translation needs it, and it takes a second

    jieba.setLogLevel("WARNING")
    for page in pages:
        for tag in get_data(page.read_text(encoding="utf-8"))[1].get("tags", ()):
            jieba.add_word(tag)


# --- pages -----------------------------------------------------------------------------------


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str | None:
    """Take from the original what is no word."""
    if not _is_translation(config):
        return None
    original = DOCS / page.file.src_uri
    if not original.is_file():
        logger.warning(f"{page.file.src_uri} in {config.theme['language']}: it has no original")
        return None
    settings = get_data(original.read_text(encoding="utf-8"))[1]
    tags = dict.fromkeys([*page.meta.get("tags", ()), *settings.get("tags", ())])
    page.meta = {**settings, **page.meta, "tags": [*tags]}
    text = text_of(original)
    markdown = _with_ids(markdown, places_for_blocks(text))
    try:
        markdown = filled(markdown, text)
    except ValueError as error:  # a strict build fails; a preview goes on without them
        logger.warning(f"{page.file.src_uri} in {config.theme['language']}: {error}")
    markdown = _with_tables(markdown, Path(config.docs_dir))
    return _linked(markdown, page.file, files)


def _with_tables(markdown: str, folder: Path) -> str:
    """Put in the tables that a page includes, translated if they are in the folder."""

    def table(line: re.Match[str]) -> str:
        path = folder / line[1] if (folder / line[1]).exists() else DOCS / line[1]
        return SETTINGS.sub("", path.read_text(encoding="utf-8")).rstrip("\n")

    return INCLUDED.sub(table, markdown)


def _with_ids(markdown: str, original: str) -> str:
    """Give headings the ids and the other settings of the original; some have an id already."""
    settings = iter([*_settings_of(original)])

    def complete(heading: re.Match[str]) -> str:
        if "#" in (heading[2] or ""):
            return heading[0]
        return f"{heading[1]} {{ {next(settings, '')} }}"

    return HEADING.sub(complete, markdown)


def _settings_of(page: str) -> Iterator[str]:
    """Return what stands in braces after each heading, or would stand there: its id."""
    headings = [*HEADING.finditer(page)]
    reader = Markdown(extensions=["attr_list", "toc"])
    reader.convert("\n\n".join(heading[0] for heading in headings))
    for heading, name in zip(headings, _ids_in(reader.toc_tokens), strict=True):
        more = re.sub(r"#\S+", "", heading[2] or "").strip()
        yield f"#{name} {more}".strip()


def _ids_in(tokens: list[dict[str, Any]]) -> Iterator[str]:
    for token in tokens:
        yield token["id"]
        yield from _ids_in(token["children"])


def _linked(markdown: str, file: File, files: Files) -> str:
    """Mark links to pages that are not translated, and lead to the picture in Chinese words."""

    def lead(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file.src_uri), link[1]))
        if (DOCS / (picture := path.replace(".svg", ".zh.svg"))).is_file():
            path = picture
        elsewhere = not files.get_file_from_path(path) and (DOCS / path).is_file()
        return f"{ENGLISH}{path}" if elsewhere else link[0]

    return LINK.sub(lead, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, **_: Any) -> str | None:
    """Write the addresses of English pages, and of the files that exist once."""
    if not _is_translation(config):
        return None
    root = config.extra["above"] + get_relative_url("./", page.url)

    def address(link: re.Match[str]) -> str:
        file = _original(link[1], config)
        if link[2] and f'id="{link[2]}"' not in Path(file.abs_dest_path).read_text("utf-8"):
            logger.warning(f"{page.file.src_uri}: docs/{link[1]} has no #{link[2]}")
        return f"{root}{file.url.removeprefix('./')}{'#' * bool(link[2])}{link[2] or ''}"

    return re.sub(rf'(?<="){ENGLISH}([^"#]*)(?:#([^"]*))?', address, html)


def _original(path: str, config: MkDocsConfig) -> File:
    """Return a file of `docs` as the original site has it: that is built first."""
    site = Path(config.site_dir, config.extra["above"])
    return File(path, str(DOCS), str(site), config.use_directory_urls)


# --- the theme -------------------------------------------------------------------------------


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Tell the theme of the other language; a translation takes all files from the original."""
    site = f"{(config.site_url or '').rstrip('/')}/"  # mike gives it without /
    env.globals["in_other_language"] = _in_other_language(config)
    env.globals["address_of"] = lambda path: urljoin(site, path)
    if _is_translation(config):
        for file in files:
            if not file.is_documentation_page():
                file.inclusion = InclusionLevel.EXCLUDED
        env.filters["url"] = _url
        env.filters["script_tag"] = _script_tag
    return env


def _in_other_language(config: MkDocsConfig) -> Callable[[Page | None], dict[str, Any]]:
    """Return the function that says where a page, or else home, is in the other language."""
    (other,) = LANGUAGES if not _is_translation(config) else ["en"]

    def find(page: Page | None) -> dict[str, Any]:
        path = page.file.src_uri if page else ""
        there = bool(path) and (DOCS / ("" if other == "en" else other) / path).is_file()
        url = _original(path if there else "index.md", config).url.removeprefix("./")
        place = f"../{url}" if other == "en" else f"{other}/{url}"
        return {"language": other, "name": NAMES[other], "place": place, "there": there}

    return find


@pass_context
def _url(context: Context, value: str) -> str:
    """Return an address as seen from a page of a translation."""
    above = context["config"].extra["above"] if str(value).startswith("assets/") else ""
    return above + url_filter(context, value)


@pass_context
def _script_tag(context: Context, script: Any) -> str:
    """Return the tag for a script of the site."""
    above = context["config"].extra["above"]
    return Markup(str(script_tag_filter(context, script)).replace('src="', f'src="{above}', 1))


# --- the other site --------------------------------------------------------------------------


def on_post_build(config: MkDocsConfig) -> None:
    """Build the translations, in folders of the site."""
    if _is_translation(config):
        return
    for language in LANGUAGES:
        known = {"site_url": config.site_url, "edit_uri": config.edit_uri}
        other = load_config(
            str(DOCS.parent / f"mkdocs.{language}.yml"),
            strict=config.strict,
            site_dir=str(Path(config.site_dir, language)),
            **{key: f"{at.rstrip('/')}/{language}/" for key, at in known.items() if at},
        )
        build(other)
