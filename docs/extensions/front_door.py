"""A Sphinx extension: what somebody sees first, made while the site is built.

Directives, for fenced blocks: ``{variants}``, a card for each variant; ``{recorded-game} wuhan``, a recorded hand to
step through; ``{reviewed-game}``, one that says what each choice was worth; ``{play-in-tab}``, a link to the page that
plays without a server, if it can be built. Every page of a variant has its recorded hand without asking, and every page
an icon and what links to it show: a title, a sentence, a picture. The site gets a page for addresses that lead nowhere.
"""

from __future__ import annotations

import html
import shutil
from functools import cache
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
from mahjong_env.viewer.page import document_html, viewer_html
from mahjong_training.analysis.review import Review
from mahjong_training.analysis.review_report import html_text
from mahjong_training.config import ReviewConfig
from tools import play_in_tab

GAMES = "games"
"""The folder of the site that recorded hands lie in."""
PLAY = "play"
"""The folder of the page that plays in a tab."""
SEED = 11
REVIEWED = "wuhan", 12  # a hand with a few mistakes in it
_WORLDS = 100
_STEP = 30  # at which a recorded hand opens: tiles lie on the table by then
_PICTURE = "_static/card.png"
_LONGEST = 180  # letters of a description
_NOT_FOUND = """<h1>There is no such page</h1>
<p>It may have moved. <a href="{home}">The documentation of mahjong_env</a> begins here, and
<a href="{home}search.html">finds what you look for</a>.</p>
"""


# What Sphinx and its theme write, and what readers without a screen or a mouse need to be told.
_SIGNATURE = '<dl>\n<dd><em class="sig-param">'
_TOLD = (
    ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
    ("body", "<pre>", '<pre tabindex="0">'),
    ("body", '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ("body", _SIGNATURE, _SIGNATURE.replace("<dd>", '<dt class="visually-hidden">Parameters</dt>\n<dd>')),
)


def played(variant: str, seed: int) -> tuple[GameRecord, bool]:
    """A hand that greedy players play, and whether somebody wins it."""
    agent, found = make_agent("greedy"), list[GameRecord]()
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed), np.random.default_rng(seed)
    recorder = Recorder(engine, lambda *ended: found.extend(ended), agents=[agent.name] * engine.rules.people)
    won = False
    while engine.seat_to_act[0] >= 0:
        outcome = recorder.step(agent.act(engine.view(), rng)).outcome
        won |= bool((outcome.winner >= 0).any())
    return found[0], won


def recorded(variant: str) -> GameRecord:
    """A hand that is won: the first from a seed on that nobody lets run dry."""
    for seed in range(SEED, SEED + 100):
        record, won = played(variant, seed)
        if won:
            return record
    raise AssertionError(f"nobody wins at {variant}")


@cache
def reviewed() -> tuple[str, int]:
    """The page of a review, and the step at which it opens: the choice that cost most of those that are mistakes."""
    study = Review(ReviewConfig(review=True, seat=0, worlds=_WORLDS), played(*REVIEWED)[0])
    found = study.findings([study.play(task) for task in study.tasks])
    worst = max(found.decisions, key=lambda one: (one.cost.low > 0, one.cost.mean))
    return html_text(found), worst.number + 1


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
        return [_recorded_frame(self.arguments[0], self.env.docname)]


class ReviewedGame(SphinxDirective):
    """``{reviewed-game}``: a reviewed hand in a frame."""

    def run(self) -> list[nodes.Node]:
        """Make the frame."""
        title = f"A hand of {mahjong_env.VARIANTS[REVIEWED[0]].title} mahjong, reviewed: what would you discard?"
        return [_frame("review", reviewed()[1], title, self.env.docname)]


class PlayInTab(SphinxDirective):
    """``{play-in-tab}``: a link, or nothing."""

    def run(self) -> list[nodes.Node]:
        """Make the link."""
        self.env.note_reread()  # what it stands on is no file of the site
        if play_in_tab.packages() is None:
            return []
        address = f"{'../' * self.env.docname.count('/')}{PLAY}/index.html"
        link = nodes.reference("", "Play in this tab, nothing to install", refuri=address, classes=["button"])
        return [nodes.paragraph("", "", link)]


def _recorded_frame(variant: str, docname: str) -> nodes.raw:
    title = f"A hand of {mahjong_env.VARIANTS[variant].title} mahjong, recorded: step through it"
    return _frame(variant, _STEP, title, docname)


def _frame(name: str, step: int, title: str, docname: str) -> nodes.raw:
    address, title = f"{'../' * docname.count('/')}{GAMES}/{name}.html", html.escape(title)
    frame = f'<iframe class="recorded-game" src="{address}#{step}" title="{title}" loading="lazy"></iframe>'
    link = f'<p class="recorded-game"><a href="{address}">{title}, on a page of its own</a></p>'
    return nodes.raw("", f"{frame}\n{link}", format="html")


class GamesOfVariants(SphinxTransform):
    """Puts the recorded hand of a variant behind the first section of its page."""

    default_priority = 410

    def apply(self, **_: Any) -> None:
        """Look at one page."""
        folder, _, name = self.env.docname.rpartition("/")
        if folder == "docs/variants" and name in mahjong_env.VARIANTS:
            first = next(part for part in self.document.findall(nodes.section) if part.parent is not self.document)
            first += _recorded_frame(name, self.env.docname)


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Tell what shows links to a page what it is about."""
    paragraphs = [] if doctree is None else doctree.findall(nodes.paragraph)
    text = next((" ".join(one.astext().split()) for one in paragraphs if len(one.astext()) > 40), "")
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rpartition(" ")[0] + " ..."
    tags = {"og:title": context.get("title", ""), "og:description": text, "og:site_name": "mahjong_env"}
    tags["og:image"] = f"{app.config.html_baseurl.rstrip('/')}/{_PICTURE}"  # found by its whole address alone
    described = [
        f'<meta property="{name}" content="{html.escape(nodes.Text(str(one)))}">' for name, one in tags.items()
    ]
    if text:
        described.append(f'<meta name="description" content="{html.escape(text)}">')
    context["metatags"] = "\n".join([context.get("metatags", ""), *described])


def make_accessible(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give headings of the navigation their level, keys to what scrolls, and Chinese pages their language."""
    for part, plain, told in _TOLD:
        context[part] = context.get(part, "").replace(plain, told)
    if page.endswith(".zh"):
        context["body"] = f'<div lang="zh">{context["body"]}</div>'


def write_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the recorded hands, the page that plays, and the one that is shown for addresses that lead nowhere."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, GAMES)
    folder.mkdir(exist_ok=True)
    for variant in mahjong_env.VARIANTS:
        (folder / f"{variant}.html").write_text(viewer_html(recorded(variant)), encoding="utf-8")
    (folder / "review.html").write_text(reviewed()[0], encoding="utf-8")
    if not play_in_tab.write(Path(app.outdir, PLAY)):
        shutil.rmtree(Path(app.outdir, PLAY), ignore_errors=True)
        print(f"left out: the page that plays in a tab; make pyodide fetches what it needs ({play_in_tab.PACKAGES})")
    # Any address may lead here, so that nothing relative would be found.
    home = f"{app.config.html_baseurl.rstrip('/')}/"
    not_found = document_html("Not found: mahjong_env", _NOT_FOUND.format(home=html.escape(home)))
    Path(app.outdir, "404.html").write_text(not_found, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_directive("variants", VariantCards)
    app.add_directive("recorded-game", RecordedGame)
    app.add_directive("reviewed-game", ReviewedGame)
    app.add_directive("play-in-tab", PlayInTab)
    app.add_transform(GamesOfVariants)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", make_accessible, priority=900)  # when the theme has had its say
    app.connect("build-finished", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
