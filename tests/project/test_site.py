"""The README is true; the documentation site builds without a warning, and its pages are true on GitHub as well."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

import mahjong_env
from mahjong_env.basics import errors
from mahjong_env.basics.plugins import installed
from mahjong_env.cli import main
from mahjong_env.rulebook.page import anchor
from mahjong_training.evaluation.standing import END, START
from support.browser import WIDE, chromium, emulate, inaccessible
from tools import pictures, play_in_tab, variant_pages
from tools.readme import CARDS, PAGES, README, README_ZH, TABLES, code_blocks, tables_in, with_tables

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "notebooks").glob("*.md")])
WITH_CODE = [page for folder in ("tutorials", "reference", "variants") for page in sorted((DOCS / folder).glob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def broken_links(page):
    """Links of a page that lead nowhere in the repository; those to the world outside are not followed."""
    for first, second in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, place = (first or second).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists():
            yield f"{target}: no such file"
        elif place and file.suffix == ".md" and place not in anchors(file):
            yield f"{target}#{place}: no such heading"


def anchors(page):
    headings = re.findall(r"^#{1,6} +(.+?) *$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)) for heading in headings}


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken_links(page)) == []


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('# A page\n[a](#a-page) [b](#nowhere) [c](gone.md) <img src="gone.png">\n', encoding="utf-8")
    assert list(broken_links(page)) == ["#nowhere: no such heading", "gone.md: no such file", "gone.png: no such file"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_are_those_of_the_code(page):
    text = page.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run `make readme`"


@pytest.mark.parametrize("page", CARDS, ids=lambda page: page.stem)
def test_blind_tests_on_cards_are_in_the_sigma_that_the_card_names(page):
    text = page.read_text(encoding="utf-8")
    (told,) = re.findall(r"greedy\s+players, is ([\d.]+)\s+points", text)
    sigma = mahjong_env.VARIANTS[page.stem].sigma
    assert told == f"{sigma:.2f}"
    rows = re.findall(r"^\| \S+ \| [\d,]+ \| (\S+) ± (\S+) \| (\S+) ± (\S+) \| .* % \(", text, re.MULTILINE)
    assert len(rows) in (3, 4)
    for *points, mean, half in (map(float, row) for row in rows):
        for one, in_sigma in zip(points, (mean, half), strict=True):  # both are rounded
            assert abs(one / sigma - in_sigma) <= 0.0005 + 0.005 / sigma


def test_every_table_has_a_place():
    assert {name for page in PAGES for name in tables_in(page.read_text(encoding="utf-8"))} == set(TABLES)


def test_the_reference_has_every_function_and_class():
    """Those of `mahjong_env` that its page lists; errors come with their module."""
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    shown = {*re.findall(r"^\.\. auto(?:function|class):: mahjong_env\.(\w+)$", page, re.MULTILINE), *vars(errors)}
    assert {name for name in mahjong_env.__all__ if callable(getattr(mahjong_env, name))} <= shown


def test_pages_of_the_variants_are_up_to_date():
    kept = {page.name: page.read_text(encoding="utf-8") for page in variant_pages.FOLDER.glob("*.md")}
    assert kept == variant_pages.pages(), "run `make rules`"


def test_measurements_of_a_variant_are_read_off_their_pages(tmp_path, monkeypatch):
    rules = mahjong_env.rules("taiwan")
    changed = tmp_path / "page.md"
    changed.write_text(
        f"{START}\nPoints:\n\n| agent | Wuhan | {rules.title} |\n|---|---|---|\n| greedy | 1 | 2 ± 3 |\n{END}\n"
        "## What was measured\n\n| per second | step |\n|---|---|\n| Taiwan | 45 |\n\n"
        "| decisions per second | MCR | Taiwanese 16-tile |\n|---|---|---|\n| one game | 67 | 89 |\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(variant_pages, "LEADERBOARD", changed)
    monkeypatch.setattr(variant_pages, "PERFORMANCE", changed)
    assert "| greedy | 2 ± 3 |" in variant_pages.standing(rules)
    assert variant_pages.speed(rules) == "| decisions per second | |\n|---|---|\n| step | 45 |\n"
    assert variant_pages.speed(mahjong_env.rules("mcr")).endswith("|---|---|\n| one game | 67 |\n")
    hebei = mahjong_env.rules("hebei")
    assert variant_pages.standing(hebei) == variant_pages.speed(hebei) == "Not measured yet.\n"


PYTHON = [
    pytest.param(page, place, marks=() if page == README else pytest.mark.thorough)
    for page in (README, *WITH_CODE)
    for place in range(len(code_blocks("python", page)))
]


@pytest.mark.parametrize(
    ("page", "place"), PYTHON, ids=lambda value: value.stem if isinstance(value, Path) else str(value)
)
def test_python_of_the_pages_runs(page, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = code_blocks("python", page)[place]
    exec(compile(code, f"{page.name} python block {place}", "exec", dont_inherit=True), {"__name__": "page"})


@pytest.mark.parametrize(("page", "made"), [("performance", "buffer"), ("rewards_and_features", "amounts")])
def test_the_blocks_of_a_page_run_one_after_the_other(page, made):
    pytest.importorskip("torch")
    pytest.importorskip("stable_baselines3")
    names: dict[str, object] = {"__name__": "page"}
    for block in code_blocks("python", DOCS / f"{page}.md"):
        exec(compile(block, f"{page}.md", "exec"), names)
    assert made in names


@pytest.mark.parametrize("page", [pytest.param("text", marks=pytest.mark.thorough), "openspiel"])
def test_a_page_prints_what_it_shows(page, monkeypatch, capsys):
    """Its commands and blocks run; a text block behind one of Python shows what that prints."""
    if page == "openspiel":
        pytest.importorskip("pyspiel")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.stdin", StringIO("q\n"))
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    names, compared = {"__name__": "page"}, 0
    for (language, block), (following, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            capsys.readouterr()
            exec(compile(block, f"{page}.md", "exec"), names)
            if following == "text":
                assert capsys.readouterr().out == shown
                compared += 1
        elif language == "sh":
            for words in map(shlex.split, filter(None, block.splitlines())):
                assert words[:2] == ["pip", "install"] or (words[0], main(words[1:])) == ("mahjong-env", 0)
    assert compared


@pytest.mark.thorough
def test_the_page_on_analysis_shows_what_its_commands_print(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "analysis.md"
    show, review = (shlex.split(line)[1:] for line in code_blocks("sh", page)[0].splitlines()[:2])
    knob = ["rule-values", "--variant", "hebei", "--knob", "closed_hand_on_discard=false", "--deals", "300"]
    told = []
    for command in (show, review, knob):
        assert main(command) == 0
        told.append(" ".join(capsys.readouterr().out.split()))
    of_an_action, of_a_rule = code_blocks("text", page)
    row, _, sentence = of_an_action.partition("\n")
    parts = [(1, row), (1, sentence), *((2, part) for part in of_a_rule.split("..."))]
    assert [part for which, part in parts if " ".join(part.split()) not in told[which]] == []


@pytest.mark.thorough
def test_pictures_are_up_to_date():
    kept = {file.name: file.read_text(encoding="utf-8") for file in pictures.FOLDER.glob("*.svg")}
    assert kept == pictures.pictures(), "run `make pictures`"
    assert pictures.LOGO.read_text(encoding="utf-8") == pictures.logo(), "run `make pictures`"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_moving_picture_shows_what_is_drawn_now(theme):
    pytest.importorskip("PIL")
    path = pictures.FOLDER / f"game-{theme}.gif"
    assert pictures.fingerprint_of(path) == pictures.fingerprint(theme), "run `make pictures`"
    assert path.stat().st_size < 1_000_000


@pytest.mark.thorough
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", ".", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    pages = list((tmp_path / "site").rglob("*.html"))
    assert [link for page in pages for link in dead_links(page)] == []
    hebei = (tmp_path / "site" / "docs" / "variants" / "hebei.html").read_text(encoding="utf-8")
    assert 'href="#tile-5p"' in hebei  # tiles are drawn
    assert "\U0001f019" not in hebei
    home = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    for variant, rules in mahjong_env.VARIANTS.items():
        assert f'href="variants/{variant}.html"' in home
        recorded = (tmp_path / "site" / "games" / f"{variant}.html").read_text(encoding="utf-8")
        assert f"<title>{rules.title} mahjong</title>" in recorded
    assert 'src="../games/wuhan.html#' in home
    assert 'src="../../games/hebei.html#' in hebei
    assert re.search(r'src="../games/review.html#\d+"', home)
    assert '"choices":[{"at":' in (tmp_path / "site" / "games" / "review.html").read_text(encoding="utf-8")
    can_play = play_in_tab.packages() is not None
    assert ('href="../play/index.html"' in home) == (tmp_path / "site" / "play" / "index.html").is_file() == can_play
    assert re.search('property="og:image" content="https://[^"]+/_static/card.png"', home)
    assert (tmp_path / "site" / "_static" / "card.png").is_file()
    assert 'property="og:description" content="The reinforcement-learning environment' in home
    with chromium(WIDE) as browser:  # everybody can read it
        seen = ("docs/index.html", "docs/leaderboard.html", "docs/variants/hebei.html", "docs/rules/hebei.zh.html")
        for page in (*seen, "404.html"):
            browser.get((tmp_path / "site" / page).as_uri())
            for scheme, size in (("light", WIDE), ("dark", (320, 700))):
                emulate(browser, scheme=scheme, size=size)
                assert inaccessible(browser) == []
    assert "There is no such page" in (tmp_path / "site" / "404.html").read_text(encoding="utf-8")


def test_tables_of_standings_sort_by_click_and_by_keyboard(tmp_path):
    rows = [("<em>the reference agent is</em>", "<em>greedy</em>"), ("0: random", "-0.420 ± 0.008"), ("2: greedy", "0")]
    rows += [("7: policy", "<strong>+0.037 ± 0.007</strong> (27 %)"), ("8: search", ""), ("<em>sight</em>", "+0.137")]
    body = "".join(f"<tr>{''.join(f'<td><p>{cell}</p></td>' for cell in row)}</tr>" for row in rows)
    heads = "<thead><tr><th><p>agent</p></th><th><p>Fuzhou</p></th></tr></thead>"
    script = (DOCS / "static" / "sort_tables.js").read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(
        f'<!doctype html><html lang="en"><title>t</title><main><section id="the-leaderboard"><h1>h</h1><table>{heads}'
        f"<tbody>{body}</tbody></table></section></main><script>{script}</script></html>",
        encoding="utf-8",
    )
    with chromium(WIDE) as browser:
        browser.get(page.as_uri())

        def order():
            shown = browser.execute_script("return [...document.querySelectorAll('tbody tr')].map(r => r.innerText)")
            return [row.split()[0].strip(":") for row in shown]

        by_name, by_points = browser.find_elements("css selector", "th button")
        assert order() == ["the", "0", "2", "7", "8", "sight"]
        by_points.click()
        assert order() == ["the", "7", "2", "0", "8", "sight"]
        assert by_points.find_element("xpath", "ancestor::th").get_attribute("aria-sort") == "descending"
        by_points.send_keys("\ue007")  # Enter
        assert order() == ["the", "0", "2", "7", "8", "sight"]
        by_name.send_keys(" ")
        by_name.send_keys(" ")
        assert order() == ["the", "8", "7", "2", "0", "sight"]
        sorted_by = browser.execute_script("return [...document.querySelectorAll('th')].map(h => h.ariaSort)")
        assert sorted_by == ["descending", None]
        assert inaccessible(browser) == []


def dead_links(page):
    """Links of a built page to files that are not there, and what a page would load from elsewhere."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r'(?:href|src)="([^"#]+)', text):
        if not re.match(r"[a-z]+:|//", target) and not (page.parent / target.partition("?")[0].lstrip("/")).exists():
            yield f"{page.name}: {target}"
    for target in re.findall(r'<(?:script|img|link rel="stylesheet")[^>]+(?:src|href)="((?:https?:)?//[^"]+)', text):
        yield f"{page.name} loads {target}"


# --- The README: both languages say the same, its Python runs, its commands exist -------------------------------------


# Run whole by .ci/run, or by a test of their own.
MAKE_TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_both_languages_say_the_same():
    """Code but for its comments, links, names, numbers, headings and items of lists."""
    english, chinese = (page.read_text(encoding="utf-8") for page in (README, README_ZH))

    def code(text):
        return [re.sub(r" *#.*", "", block) for block in re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)]

    def prose(text):
        text = re.sub(r"^```.*?^```|<!-- table.*?<!-- end -->", "", text, flags=re.MULTILINE | re.DOTALL)
        return re.sub(r"\[(English|中文)\]\([^)]*\)", "", text).replace(".zh.md", ".md")

    assert code(chinese) == code(english)
    for pattern in (r"\]\(([^)]*)\)", r"`[^`]*`", r"(?<![a-z0-9.])\d[\d,]*(?: %)?", r"^(#+) ", r"^(\*) "):
        found = [sorted(re.findall(pattern, prose(text), re.MULTILINE)) for text in (english, chinese)]
        assert found[0] == found[1], pattern
    assert len(re.findall("[\u4e00-\u9fff]", prose(chinese))) > 500


ADDED = installed("mahjong_env.commands")


def shell_lines():
    return [line for block in code_blocks("sh") for line in block.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("line", shell_lines())
def test_commands_exist(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        assert words[1] in MAKE_TARGETS
    elif words[0] == "mahjong-env":
        # What learns is run by tests of its own and by .ci/run, the page by tests/play; here options are checked.
        asks = words[1] in ADDED or "--browser" in words
        try:
            status = main([words[1], "--help"] if asks else words[1:])
        except SystemExit as left:
            status = left.code
        assert status == 0
        told = capsys.readouterr().out
        assert all(word in told for word in words if asks and word.startswith("--"))
    else:
        assert words[:2] == ["pip", "install"]
