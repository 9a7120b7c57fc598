"""A Sphinx extension: what somebody sees first, made while the site is built.

Two directives, for fenced blocks: ``{variants}``, a card for each variant, and ``{recorded-game} wuhan``, a recorded
hand to step through. Pages of variants have their recorded hand without asking. Every page gets an icon and what links
to it show: a title, a sentence, a picture. The site gets a page for addresses that lead nowhere.
"""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.basics.notation import parse_tiles
from mahjong_env.records import GameRecord, Recorder
from mahjong_env.rulebook.drawing import show_tiles
from mahjong_env.rulebook.page import row_examples, sections, variant_page
from mahjong_env.viewer.page import viewer_html

GAMES = "games"
"""The folder of the site that recorded hands lie in."""
SEED = 11
_STEP = 30  # at which a recorded hand opens: tiles lie on the table by then
_PICTURE = "_static/card.png"
_LONGEST = 180  # letters of a description
_NOT_FOUND = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not found: mahjong_env</title>
<style>:root {{ color-scheme: light dark; }}
body {{ font: 18px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1rem; }}</style>
<h1>There is no such page</h1>
<p>It may have moved. <a href="{home}">The documentation of mahjong_env</a> begins here, and
<a href="{home}search.html">finds what you look for</a>.</p></html>
"""


def recorded(variant: str) -> GameRecord:
    """A hand that greedy players play to a win: the first from a seed on that nobody lets run dry."""
    agent = make_agent("greedy")
    for seed in range(SEED, SEED + 100):
        found: list[GameRecord] = []
        engine, rng = mahjong_env.make_engine(variant, 1, seed=seed), np.random.default_rng(seed)
        people = engine.rules.people
        recorder = Recorder(engine, lambda *ended, found=found: found.extend(ended), agents=[agent.name] * people)
        won = False
        while engine.seat_to_act[0] >= 0:
            outcome = recorder.step(agent.act(engine.view(), rng)).outcome
            won |= bool((outcome.winner >= 0).any())
        if won:
            return found[0]
    raise AssertionError(f"nobody wins at {variant}")


class VariantCards(SphinxDirective):
    """``{variants}``: a card for each variant, with a hand that it pays for."""

    def run(self) -> list[nodes.Node]:
        """Make the cards."""
        cards = nodes.container(classes=["variant-cards"])
        for name, rules in sorted(mahjong_env.VARIANTS.items()):
            told = dict(sections(variant_page(rules)))["The game in short"].split("\n\n")[0]
            sentences = ". ".join(" ".join(told.split()).split(". ")[:2]).rstrip(".")
            arguments = next(iter(row_examples(rules).values()))[0]
            tiles = show_tiles(parse_tiles(arguments["hand"] + arguments.get("winning_tile", "")))
            title = nodes.reference("", "", refuri=f"variants/{name}.html")
            title += [nodes.Text(f"{rules.title} "), nodes.inline("", rules.chinese, language="zh")]
            card = nodes.container(classes=["variant-card"])
            card += nodes.paragraph("", "", title, classes=["title"])
            card += [
                nodes.paragraph("", text, classes=[kind]) for kind, text in (("hand", tiles), ("", f"{sentences}."))
            ]
            cards += card
        return [cards]


class RecordedGame(SphinxDirective):
    """``{recorded-game} VARIANT``: a recorded hand in a frame."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the frame."""
        return [_frame(self.arguments[0], self.env.docname)]


def _frame(variant: str, docname: str) -> nodes.raw:
    title = f"A hand of {mahjong_env.VARIANTS[variant].title} mahjong, recorded: step through it"
    address = f"{'../' * docname.count('/')}{GAMES}/{variant}.html"
    frame = (
        f'<iframe class="recorded-game" src="{address}#{_STEP}" title="{html.escape(title)}" loading="lazy"></iframe>'
    )
    link = f'<p class="recorded-game"><a href="{address}">{html.escape(title)}, on a page of its own</a></p>'
    return nodes.raw("", f"{frame}\n{link}", format="html")


class GamesOfVariants(SphinxTransform):
    """Puts the recorded hand of a variant behind the first section of its page."""

    default_priority = 410

    def apply(self, **_: Any) -> None:
        """Look at one page."""
        folder, _, name = self.env.docname.rpartition("/")
        if folder == "docs/variants" and name in mahjong_env.VARIANTS:
            first = next(part for part in self.document.findall(nodes.section) if part.parent is not self.document)
            first += _frame(name, self.env.docname)


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Tell what shows links to a page what it is about."""
    paragraphs = [] if doctree is None else doctree.findall(nodes.paragraph)
    text = next((" ".join(one.astext().split()) for one in paragraphs if len(one.astext()) > 40), "")
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rpartition(" ")[0] + " ..."
    tags = {"og:title": context.get("title", ""), "og:description": text, "og:site_name": "mahjong_env"}
    if app.config.html_baseurl:  # a picture is found by its whole address alone
        tags["og:image"] = f"{app.config.html_baseurl.rstrip('/')}/{_PICTURE}"
    described = [
        f'<meta property="{name}" content="{html.escape(nodes.Text(str(one)))}">' for name, one in tags.items()
    ]
    if text:
        described.append(f'<meta name="description" content="{html.escape(text)}">')
    context["metatags"] = "\n".join([context.get("metatags", ""), *described])


def write_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the recorded hands, and the page that is shown for addresses that lead nowhere."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, GAMES)
    folder.mkdir(exist_ok=True)
    for variant in mahjong_env.VARIANTS:
        (folder / f"{variant}.html").write_text(viewer_html(recorded(variant)), encoding="utf-8")
    # Any address may lead here, so that nothing relative would be found.
    home = f"{app.config.html_baseurl.rstrip('/')}/" if app.config.html_baseurl else "/"
    Path(app.outdir, "404.html").write_text(_NOT_FOUND.format(home=html.escape(home)), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.config.html_baseurl = app.config.html_baseurl or os.environ.get("READTHEDOCS_CANONICAL_URL", "")
    app.add_directive("variants", VariantCards)
    app.add_directive("recorded-game", RecordedGame)
    app.add_transform(GamesOfVariants)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
