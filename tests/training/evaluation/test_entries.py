"""Entries of strangers: the seed follows what the agent is made of, and whatever is changed in an entry is found."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_training.config import PageConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import entries, matches, standing
from mahjong_training.evaluation.entries import commitment_of, digest_of, sealed, seed_of
from mahjong_training.evaluation.estimates import plain_json
from mahjong_training.evaluation.standing import END, START, estimate
from mahjong_training.runtime.digests import named_digests

AGENT_FILE = """
class Mine:
    name = "mine"

    def act(self, view, rng):
        return view.action_mask.argmax(axis=1)
"""
OTHER = "view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an agent and its entry."""
    folder = tmp_path_factory.mktemp("submitted")
    (folder / "mine.py").write_text(AGENT_FILE, encoding="utf-8")
    words = ("--variant", "hebei", "--agent", f"{folder}/mine.py:Mine", "--name", "mine", "--deals", "32")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "POOL", ("reference", "random", "greedy"))
        assert main(["leaderboard", "submit", *words, "--out", str(folder), "--beacon", "a lottery"]) == 0
    return folder


@pytest.fixture(autouse=True)
def _quick_pool(monkeypatch):
    monkeypatch.setattr(entries, "POOL", ("reference", "random", "greedy"))


@pytest.fixture
def entry(folder):
    return json.loads((folder / "hebei-mine.json").read_text(encoding="utf-8"))


def sealed_again(entry):
    """Return an entry whose commitment, seed and digest follow from the rest of it."""
    entry = entry | {"commitment": commitment_of(entry), "seed": seed_of(entry)}
    return entry | {"digest": digest_of(entry)}


def check(entry, path, *words):
    path.write_text(plain_json(entry), encoding="utf-8")
    return main(["leaderboard", "check", "--entry", str(path), *words])


def test_an_entry_says_what_was_played_and_is_checked(entry, tmp_path, capsys):
    assert entry["points"]["high"] < 0
    assert entry["beacon_was_given"]
    assert [one["against"] for one in entry["contests"]] == [
        ["reference"],
        ["reference", "random"],
        ["reference", "greedy"],
        ["random", "greedy"],
    ]
    dealt = [
        deal for one in entry["contests"] for block in one["blocks"] for deal in range(block["first"], block["last"])
    ]
    assert dealt == list(range(64))  # each of them once, so that nothing of it can be remembered
    assert check(entry, tmp_path / "e.json", "--sample", "2", "--agent", entry["agent"]) == 0
    told = capsys.readouterr()
    assert "2 of 5 blocks were played again, and came out the same" in told.out
    assert "mine (" in told.out
    assert "part 1 of 2, Hebei: " in told.err  # in a log file, too, although that is no terminal


def test_the_seed_follows_all_that_its_maker_chooses_and_the_beacon(entry):
    """Not the name: whoever might choose among seeds could keep the best."""
    assert (commitment_of(entry), seed_of(entry)) == (entry["commitment"], entry["seed"])
    for change in (
        {"agent": entry["agent"] + "?bias=1"},
        {"digests": ["0"]},
        {"deals": 33},
        {"knobs": ["players=3"]},  # as they are anyway
        {"version": 1},
    ):
        assert commitment_of(entry | change) != entry["commitment"]
        assert seed_of(entry | change) != entry["seed"]
    assert seed_of(entry | {"beacon": "another"}) != entry["seed"]
    assert seed_of(entry | {"name": "another"}) == entry["seed"]


def test_the_commitment_is_known_before_anything_is_played(folder, entry, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(matches, "play_block", lambda *_: pytest.fail("has begun to play"))
    words = ("--variant", "hebei", "--agent", f"{folder}/mine.py:Mine", "--name", "mine", "--deals", "32", "--commit")
    assert main(["leaderboard", "submit", *words, "--out", str(tmp_path / "entries")]) == 0
    assert f"commitment: {entry['commitment']}\n" in capsys.readouterr().out
    assert not (tmp_path / "entries").exists()


def test_numbers_may_differ_in_their_last_bits(entry, tmp_path):
    """As they do where another processor sums them."""
    elsewhere = json.loads(json.dumps(entry))
    elsewhere["mixed"]["low"] *= 1 + 1e-14
    assert elsewhere != entry
    assert check(elsewhere | {"digest": digest_of(elsewhere)}, tmp_path / "e.json") == 0


def test_whatever_is_changed_is_found(entry, tmp_path, capsys):
    better = json.loads(json.dumps(entry))
    better["points"]["mean"] += 0.1
    assert check(better, tmp_path / "e.json") == 2
    assert "not what follows from the rest of the entry: digest, points" in capsys.readouterr().err
    better["digest"] = digest_of(better)
    assert check(better, tmp_path / "e.json") == 2
    assert "the rest of the entry: points" in capsys.readouterr().err
    chosen = entry | {"seed": 7}
    assert check(chosen | {"digest": digest_of(chosen)}, tmp_path / "e.json") == 2
    assert "the rest of the entry: seed" in capsys.readouterr().err


def test_invented_deals_are_found_by_playing_them_again(entry, tmp_path, capsys):
    invented = json.loads(json.dumps(entry))
    for one in invented["contests"]:
        for block in one["blocks"]:
            block["points"] = [points + 1 for points in block["points"]]
    invented |= json.loads(plain_json(entries.strength(invented["contests"])))
    invented["digest"] = digest_of(invented)
    assert check(invented, tmp_path / "e.json", "--sample", "1", "--agent", entry["agent"]) == 2
    assert "was played again with another result" in capsys.readouterr().err


@pytest.mark.parametrize("blocks", [[0, 0], [0], [1]])
def test_deals_that_were_left_out_or_played_twice_are_found(blocks, entry, tmp_path, capsys):
    chosen = json.loads(json.dumps(entry))
    chosen["contests"][0]["blocks"] = [entry["contests"][0]["blocks"][number] for number in blocks]
    chosen |= json.loads(plain_json(entries.strength(chosen["contests"])))
    chosen["digest"] = digest_of(chosen)
    assert check(chosen, tmp_path / "e.json") == 2
    assert "it does not have all blocks of deals that are played for an entry, each once" in capsys.readouterr().err


def test_luck_that_was_invented_is_found_by_playing_again(entry, tmp_path, capsys):
    lucky = json.loads(json.dumps(entry))
    for one in lucky["contests"]:
        for block in one["blocks"]:
            block["with_luck"] = [0] * len(block["with_luck"])
    lucky |= json.loads(plain_json(entries.strength(lucky["contests"])))
    lucky["digest"] = digest_of(lucky)
    assert check(lucky, tmp_path / "e.json", "--sample", "1", "--agent", entry["agent"]) == 2
    assert "was played again with another result" in capsys.readouterr().err


@pytest.mark.parametrize(
    "agent",
    [
        "isolated:command:touch {}/made",
        "cProfile:run?statement=__import__('os').mkdir('{}/made')",
        "tools/fingerprints.py:os.mkdir?path={}/made",
        "{}/mine.py:Mine",
        "elsewhere.mine:Mine",
        "policy:{}/mine.zip",
        "policy:hebei?network=mine.py:Mine",
        "search?base=mine:Mine",
        "sb3?place=1",
        "value?numbers=1",
        " greedy",
        "isolated:isolated:greedy",
    ],
)
def test_what_its_maker_wrote_is_run_only_if_it_is_named(agent, entry, tmp_path, capsys):
    """Whatever else an entry says, even with the digests of files that everybody has."""
    (tmp_path / "mine.py").write_text("import pathlib\n(pathlib.Path(__file__).parent / 'made').mkdir()", "utf-8")
    shutil.copy(Path(entries.SHIPPED) / "hebei.zip", tmp_path / "mine.zip")
    agent = agent.format(tmp_path)
    digests = [*filter(None, named_digests(agent, rules("hebei")))]
    assert check(sealed_again(entry | {"agent": agent, "digests": digests or ["0"]}), tmp_path / "e.json") == 0
    told = f"it would run code of its maker; if you trust it, name it with --agent {shlex.quote(agent)}\n"
    assert told in capsys.readouterr().out
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("agent", ["greedy", "isolated:policy:hebei?sample=false", "search?rollouts=8&clear=0.5"])
def test_agents_of_this_package_are_played_without_being_named(agent, entry, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(matches, "play_block", lambda *_: pytest.fail("has begun to play"))
    assert check(sealed_again(entry | {"agent": agent}), tmp_path / "e.json") == 2
    assert "is not the agent of this entry" in capsys.readouterr().err


def test_a_file_is_compared_before_it_is_run(entry, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'made')!r}, 'w')", encoding="utf-8")
    assert check(entry, tmp_path / "e.json", "--agent", f"{tmp_path}/mine.py:Mine") == 2
    assert "is not the agent of this entry" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
    assert check(entry, tmp_path / "e.json", "--agent", f"{tmp_path}/away.py:Mine") == 2
    assert "its files cannot all be read" in capsys.readouterr().err


def test_a_program_has_its_file_in_its_text(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(matches, "play_block", lambda *_: pytest.fail("has begun to play"))
    words = ("--variant", "hebei", "--agent", f"command:{sys.executable} -m bot", "--name", "mine")
    assert main(["leaderboard", "submit", *words, "--out", str(tmp_path)]) == 2
    assert "its files cannot all be read" in capsys.readouterr().err


@pytest.mark.parametrize("beacon", ["a\nb", "a\tb", "a\udcff"], ids=ascii)
def test_a_beacon_is_a_line_of_text_before_anything_is_played(beacon, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(matches, "play_block", lambda *_: pytest.fail("has begun to play"))
    words = ("--variant", "hebei", "--agent", "greedy", "--name", "mine", "--beacon", beacon)
    assert main(["leaderboard", "submit", *words, "--out", str(tmp_path)]) == 2
    assert "error: beacon must be a line of text, not 'a" in capsys.readouterr().err


def test_another_agent_is_not_that_of_the_entry(entry, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(matches, "play_block", lambda *_: pytest.fail("has begun to play"))
    (tmp_path / "mine.py").write_text(AGENT_FILE.replace("view.action_mask.argmax(axis=1)", OTHER), encoding="utf-8")
    assert check(entry, tmp_path / "e.json", "--agent", f"{tmp_path}/mine.py:Mine") == 2
    assert "is not the agent of this entry" in capsys.readouterr().err


def test_a_field_with_somebody_else_is_named(entry, tmp_path, capsys, monkeypatch):
    """An honest entry is none the worse for it that a policy has been replaced since."""
    monkeypatch.setattr(matches, "play_block", lambda *_: pytest.fail("has begun to play"))
    former = entry | {"field": entry["field"] | {"random": ["0"]}}
    words = (tmp_path / "e.json", "--agent", entry["agent"])
    assert check(former | {"digest": digest_of(former)}, *words) == 2
    assert "it was made with another random; check it with the mahjong_env that wrote it" in capsys.readouterr().err


def test_newcomers_are_sealed():
    assert sealed("mine.py:Mine") == "isolated:mine.py:Mine"
    assert sealed("command:./bot") == "command:./bot"
    assert sealed("isolated:greedy") == "isolated:greedy"


def test_an_entry_is_written_once(folder, capsys):
    words = ("--variant", "hebei", "--agent", f"{folder}/mine.py:Mine", "--name", "mine", "--out", str(folder))
    assert main(["leaderboard", "submit", *words]) == 2
    assert "if the agent has changed, give it another --name" in capsys.readouterr().err


def test_what_is_no_entry_is_named(tmp_path, capsys):
    for what, told in (({"format": 1}, "an entry of format 1; this version reads format 4"), ([], "cannot be read")):
        assert check(what, tmp_path / "e.json") == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        {"deals": "32"},
        {"deals": 10**30},
        {"deals": 32.0},
        {"name": "mine |"},
        {"name": ["my", "agent"]},
        {"agent": 1},
        {"date": "a\nb"},
        {"date": "9999 <!-- end of leaderboard -->"},
        {"date": "2026-02-30"},
        {"date": "20260131"},
        {"contests": []},
        {"contests": None},
        {"contests": [None] * 4},
        {"digests": []},
        {"digests": {"0": 1}},
        {"field": {}},
        {"beacon": ""},
        {"beacon": " "},
        {"beacon": None},
        {"beacon": 0},
        {"beacon": []},
        {"beacon_was_given": 1},
        {"version": False},
        {"points": {"mean": "0", "low": 0, "high": 0}},
    ],
    ids=str,
)
def test_what_is_of_another_kind_is_named(change, entry, tmp_path, capsys):
    changed = entry | change
    assert check(sealed_again(changed), tmp_path / "e.json") == 2
    assert f"error: {tmp_path / 'e.json'}: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["seed", "commitment", "beacon", "version"])
def test_what_is_missing_is_named(name, entry, tmp_path, capsys):
    del entry[name]
    assert check(entry | {"digest": digest_of(entry)}, tmp_path / "e.json") == 2
    assert f"e.json: it has no {name}" in capsys.readouterr().err


def test_a_seed_is_an_integer(entry, tmp_path, capsys):
    changed = entry | {"seed": float(entry["seed"])}
    assert check(changed | {"digest": digest_of(changed)}, tmp_path / "e.json") == 2
    assert "seed must be an integer" in capsys.readouterr().err


@pytest.mark.parametrize("points", ["1.0", True, None, 1e30, 10**30, float("inf"), float("nan"), [1]], ids=str)
@pytest.mark.parametrize("name", ["points", "with_luck"])
def test_points_are_numbers(name, points, entry, tmp_path, capsys):
    entry["contests"][0]["blocks"][0][name][0] = points
    assert check(sealed_again(entry), tmp_path / "e.json") == 2
    assert "the points of a deal must be a number" in capsys.readouterr().err


def test_everybody_plays_every_hand(entry, tmp_path, capsys):
    """Hands that the newcomer sat out would count as hands of no points."""
    assert check(sealed_again(entry | {"knobs": ["rotation=true"]}), tmp_path / "e.json") == 2
    assert "everybody plays every hand" in capsys.readouterr().err


def test_blocks_have_one_size(entry, tmp_path, capsys):
    """Moving a deal to the block before makes none that could be played again."""
    one, other = entry["contests"][0]["blocks"]
    for name in ("points", "with_luck"):
        one[name].append(other[name].pop(0))
    one["last"] += 1
    other["first"] += 1
    entry |= json.loads(plain_json(entries.strength(entry["contests"])))
    assert check(sealed_again(entry), tmp_path / "e.json") == 2
    assert "it does not have all blocks of deals" in capsys.readouterr().err


def with_page_of(folder, *changed):
    for number, entry in enumerate(changed):
        (folder / f"{number}.json").write_text(plain_json(sealed_again(entry)), encoding="utf-8")
    return entries.page(PageConfig(entries=folder))


def test_texts_of_an_entry_stay_in_their_cell(entry, tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "LEAST", 32)
    text = with_page_of(tmp_path, entry | {"agent": f"command:./bot `|` {END} <img>"})
    assert "`command:./bot '\\|' &lt;!-- end of leaderboard --&gt; &lt;img&gt;`" in text
    assert END not in text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "commitment"),
        ({"name": "yours"}, "commitment"),
        ({"agent": "greedy"}, "name"),
        ({"name": "yours", "knobs": ["cap=none"]}, "agent and rules"),  # the default, which needs no word
    ],
)
def test_one_version_is_one_entry(change, told, entry, tmp_path):
    with pytest.raises(TrainingError, match=rf"1\.json: it has the {told} of \S*0\.json, but one version of an agent"):
        with_page_of(tmp_path, entry, entry | change)


def test_an_entry_by_other_rules_stays_and_is_marked(entry, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(entries, "LEAST", 32)
    former, told = entry | {"version": -1}, "version -1 of the rules"
    assert f"| with {told} | 32 |" in with_page_of(tmp_path, former)
    assert check(sealed_again(former), tmp_path / "e.json", "--agent", entry["agent"]) == 2
    assert f"it was made with {told}; check it with the mahjong_env that wrote it" in capsys.readouterr().err


def test_entries_are_shown_in_the_sigma_of_today(entry, tmp_path, monkeypatch, capsys):
    """An entry holds points: whatever its maker writes, the unit is not theirs to choose, and an older one no fault."""
    monkeypatch.setattr(entries, "LEAST", 32)
    monkeypatch.setattr(entries, "sigma", lambda rules: 10.0)
    shown = estimate(entry["points"]).text(3, 10.0, "+")
    assert f"| **{shown}** |" in with_page_of(tmp_path, entry | {"sigma": 0.01})
    assert check(entry, tmp_path / "e.json") == 0
    assert f"{shown} sigma a hand" in capsys.readouterr().out


def test_the_page_is_made_of_what_is_kept(folder, entry, tmp_path, monkeypatch, capsys):
    """That of the documentation is as the command makes it, and entries are shown if they are what they say."""
    monkeypatch.chdir(Path(__file__).parents[3])
    assert f"{START}\n{entries.page(PageConfig())}\n{END}" in PageConfig().page.read_text(encoding="utf-8")
    assert "mine" not in entries.page(PageConfig(entries=folder))
    assert "not shown; the table takes entries with a given beacon and 2,000 deals" in capsys.readouterr().out
    monkeypatch.setattr(entries, "LEAST", 32)
    text = entries.page(PageConfig(entries=folder))
    assert f"| {entry['date']} | mine: `{entry['agent']}` | Hebei | **-" in text
    assert f"| that of today | 32 | `{entry['digest'][:16]}` |" in text
    former = entry | {"field": entry["field"] | {"random": ["0"]}}
    (tmp_path / "e.json").write_text(plain_json(former | {"digest": digest_of(former)}), encoding="utf-8")
    assert "| with another random | 32 |" in entries.page(PageConfig(entries=tmp_path))
    (tmp_path / "e.json").write_text(plain_json(entry | {"name": "yours"}), encoding="utf-8")
    with pytest.raises(TrainingError, match="not what follows from the rest of the entry: digest"):
        entries.page(PageConfig(entries=tmp_path))
    with pytest.raises(TrainingError, match="there are no standings"):
        entries.page(PageConfig(kept=tmp_path / "none.json"))


def test_the_page_says_what_is_of_former_agents_and_rules(tmp_path, monkeypatch, capsys):
    """They were replaced, and what is kept of them is shown until it is played again."""
    kept = json.loads((Path(__file__).parents[3] / PageConfig().kept).read_text(encoding="utf-8"))
    config = PageConfig(kept=tmp_path / "kept.json", entries=tmp_path / "none")
    config.kept.write_text(json.dumps(kept | {"mars": {"their.py:Agent": {"digests": ["0"]}}}), encoding="utf-8")
    entries.page(config)
    assert capsys.readouterr().out == f"{config.kept}: mars is not shown: there is no such variant here\n"
    kept["hebei"]["policy"]["digests"] = ["0"]
    kept["wuhan"]["greedy"]["how_mixed"]["version"] = -1
    one = {"points": kept["mcr"]["value"]["points"], "more": kept["mcr"]["value"]["points"]}
    former = {"value, never deals in": one | {"digests": ["0"]}, "reference, never deals in": one | {"version": -1}}
    monkeypatch.setattr(standing, "with_sight", lambda variant, *_: former if variant == "mcr" else {})
    config.kept.write_text(json.dumps(kept), encoding="utf-8")
    entries.page(config)
    assert [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()] == [
        "policy in Hebei: found with another agent of this name; play it again",
        "greedy in Wuhan: found by version -1 of the rules; play it again",
        "value, never deals in in MCR: found with another agent of this name; play it again",
        "reference, never deals in in MCR: found by version -1 of the rules; play it again",
    ]
