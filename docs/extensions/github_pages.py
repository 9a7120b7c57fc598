"""A Sphinx extension for pages that are also read on GitHub.

A `<picture>` with a dark and a light image follows the site's own switch; a badge from another site becomes a button,
so that no page loads anything from elsewhere; links to files that are not pages (sources, tests) lead to the
repository; the site's address without a path leads to the first page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_PICTURE = re.compile(r'<picture>\s*<source[^>]*srcset="([^"]+)"[^>]*>\s*(<img[^>]*>)\s*</picture>', re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


class ThemedPictures(SphinxTransform):
    """Turns a `<picture>` into two images, of which the theme shows one, and an `<img>` into an image."""

    default_priority = 400  # before images are collected

    def apply(self, **_: Any) -> None:
        """Look through one page."""
        for raw in list(self.document.findall(nodes.raw)):
            found = _PICTURE.search(raw.astext())
            if found is not None:
                attributes = dict(_ATTRIBUTE.findall(found[2]))
                raw.replace_self([_image(attributes, found[1], "only-dark"), _image(attributes, None, "only-light")])
            elif raw.astext().lstrip().startswith("<img "):
                raw.replace_self(_image(dict(_ATTRIBUTE.findall(raw.astext())), None))


def _image(attributes: dict[str, str], source: str | None, *shown: str) -> nodes.image:
    image = nodes.image(uri=source or attributes["src"], alt=attributes.get("alt", ""), classes=[*shown, "picture"])
    if "width" in attributes:
        image["width"] = f"{attributes['width']}px"
    return image


class Buttons(SphinxTransform):
    """Turns linked images of other sites into links with their text."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Look through one page."""
        for image in list(self.document.findall(nodes.image)):
            if image["uri"].startswith(("http:", "https:")) and isinstance(image.parent, nodes.reference):
                image.parent["classes"].append("button")
                image.replace_self(nodes.Text(image.get("alt", "")))


class SourceLinks(SphinxTransform):
    """Turns links to files that are not pages into links to the repository."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Look through one page."""
        root, here = Path(self.app.srcdir), Path(self.env.doc2path(self.env.docname)).parent
        repository = self.config.html_theme_options["source_repository"].rstrip("/")
        for found in list(self.document.findall(addnodes.download_reference)):
            target = (here / found["reftarget"].partition("#")[0]).resolve()
            if target.is_relative_to(root) and target.exists():
                kind = "tree" if target.is_dir() else "blob"
                address = f"{repository}/{kind}/main/{target.relative_to(root).as_posix()}"
                found.replace_self(nodes.reference("", "", *found.children, refuri=address))


def write_redirect(app: Sphinx, exception: Exception | None) -> None:
    """Lead from the root of the site to its first page."""
    if exception is None and app.builder.format == "html":
        page = f"{app.config.root_doc}.html"
        text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={page}">'
        Path(app.outdir, "index.html").write_text(
            f'{text}<title>mahjong_env</title><a href="{page}">The documentation of mahjong_env</a>\n', encoding="utf-8"
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_transform(ThemedPictures)
    app.add_transform(Buttons)
    app.add_transform(SourceLinks)
    app.connect("build-finished", write_redirect)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
