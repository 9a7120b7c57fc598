"""A seat in words: what a language model is told, and how its answers are read."""

import copy
import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mahjong_env import ACTIONS, VARIANTS, ActionError, Deal, RulesError, action, make_engine, rules
from mahjong_env.cli import main
from mahjong_env.drawing.text import seat_text
from mahjong_env.environments.registration import ENTRY_MODULES, text_id
from mahjong_env.play.text_seat import TextSeatEnv
from mahjong_env.play.words import HOW_TO_ANSWER, UnclearAnswerError, instructions, prompt, read_answer
from mahjong_env.rulebook.page import rules_in_short
from mahjong_env.testing import random_actions
from support.marks import variants

TURN = Deal(hands=("5p 5z 6z 1z 123m 567s 99s 5m 7z",), dealer=0)
OFFER = Deal(hands=("5m 19p 19s 1234567z 1m 9m", "4466m 3m 7m 55m 11p 123s"), dealer=0)


def asked(deal, *actions):
    """The view of the seat that is asked after these actions."""
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=deal)
    for name in actions:
        engine.step([action(name)])
    return engine.view()


READ = {
    "discard 5p": """5p|discard 5p|I discard the 5 of dots|**Discard 5p!**|{"action": "discard 5p"}|Discard: 5 circles
        |```json\n{"thought": "keep 5m", "action": "5p"}\n```|打五筒|我打出五筒。|出5筒|\N{FULLWIDTH DIGIT FIVE}p
        |the tile to throw is the five dots|a 5-dot|I'll keep 123m and hope to win.\nAction: 5p|5: discard 5p
        |To keep my chow and pung chances: discard 5p|I have a chow 123m and hope to win.\nThe 5p goes
        |Discard 5p.\nThat keeps 9p in reach.|I could discard 5p or 1z.\n5p""",
    "discard 1m": """1|1.|#1|(1)|option 1|{"action": 1}|Answer: 1|I choose it: 1|打一万|1: discard 1m
        |one of characters|Not 5p: I would rather discard 1z or 9s.\n1""",
    "discard 1z": """play the east wind|打东风|I will not discard 5p, rather I discard 1z
        |I'd rather discard 1z than pass|I could discard 5p.\n**East!**""",
    "discard 5z": "白|打白板|Throw away the White Dragon|the final answer is: white",
    "discard 6z": "打发财|打發|drop the green dragon",
    "discard 7z": "打红中|打中|discard red",
}
CLAIMED = {
    "pung": """Pung!|碰|碰\N{FULLWIDTH EXCLAMATION MARK}|4|pong the 5 of characters|pung 5m|{'action'}\n{"action":"碰"}
        |I claim it: 4: pung""",
    "chow low": "chow low|chi with 6m and 7m|chow 567m|吃 67m",
    "chow middle": "chow 4m 6m|chow (with your 4m and 6m)|chow middle",
    "win": "win|胡|和了|Hu!|mahjong",
    "pass": """pass.|过|過牌|skip|I pass: not worth a pung|no pung; pass|I don't want to pung, so pass
        |I don\N{RIGHT SINGLE QUOTATION MARK}t want to pung, so pass""",
}
REFUSED = {
    "pung": "'pung' is not legal: it is your turn: there is nothing to claim",
    "win": "'win' is not legal: the tiles are not a complete hand",
    "discard 9p": "you hold no 9p",
    "kong 9s": "a concealed kong takes four tiles, and you hold 2 of 9s",
    "discard 5p or 5m": "could mean 'discard 5m' and 'discard 5p'",
    "discard 5": "could mean 'discard 5m' and 'discard 5p' and",
    "Discard 1z.\nThis keeps 5p.": "could mean 'discard 5p' and 'discard 1z'",
    "Discard 9s.\nThat leaves me 2 tiles away.": "could mean 'discard 2m' and 'discard 9s'",
    "1: discard 5p": "could mean 'discard 1m' and 'discard 5p'",
    "40": "there is no number 40 in the list, which ends with 13",
    "0": "there is no number 0",
    "Hello!": "'Hello!' names no action",
    "": "names no action",
    '{"action": null}': "names no action",
    f'{{"action": {"[" * 100_000}{"]" * 100_000}}}': "names no action",
    f"answer is{' ' * 200_000}{'not a pung ' * 20_000}": "names no action",  # read in linear time
}
CLAIMS_REFUSED = {
    "kong": "a kong with 5m takes 3 more, and you hold 2",
    "chow": "could mean 'chow low' and 'chow middle' and 'chow high'",
    "chow 123s": "not a run with the tile that is offered",
    "discard 4m": "it is not your turn: you are asked about 5m",
    "p": "could mean 'pung' and 'pass'",
}


def cases(table):
    return [(said.strip(), meant) for meant, every in table.items() for said in every.split("|")]


@pytest.mark.parametrize(("said", "meant"), cases(READ))
def test_answers_in_a_turn(said, meant):
    assert ACTIONS[read_answer(said, asked(TURN))] == meant


@pytest.mark.parametrize(("said", "meant"), cases(CLAIMED))
def test_answers_about_a_discard(said, meant):
    assert ACTIONS[read_answer(said, asked(OFFER, "discard 5m"))] == meant


@pytest.mark.parametrize(
    ("said", "why", "view"),
    [(*case, asked(TURN)) for case in REFUSED.items()]
    + [(*case, asked(OFFER, "discard 5m")) for case in CLAIMS_REFUSED.items()],
)
def test_what_is_refused_is_told_why(said, why, view):
    with pytest.raises(UnclearAnswerError, match=re.escape(why)):
        read_answer(said, view)


def test_a_kong_is_known_by_its_tile():
    view = asked(Deal(hands=("1111m 2222p 345s 12z 7z",), dealer=0))
    assert ACTIONS[read_answer("kong 1m", view)] == "concealed kong 1m"
    assert ACTIONS[read_answer("暗杠二筒", view)] == "concealed kong 2p"
    with pytest.raises(UnclearAnswerError, match="'concealed kong 1m' and 'concealed kong 2p'"):
        read_answer("杠", view)


@pytest.mark.parametrize("variant", variants("hebei", "fuzhou"))
def test_every_prompt_is_of_the_view_alone_and_every_action_in_it_is_read(variant):
    engine, rng = make_engine(variant, 3, seed=2), np.random.default_rng(2)
    for step in range(60):
        view = engine.view()
        for row in np.flatnonzero(engine.seat_to_act >= 0):
            told = prompt(view, row)
            twin = engine.select([row])
            twin.resample_hidden(twin.seat_to_act, rng)
            assert prompt(twin.view()) == told
            listed = re.findall(r"^(\d+): ([^(\n]+?)(?: \(.*)?$", told.rpartition(" may\n")[2], re.MULTILINE)
            assert [action(name) for _, name in listed] == np.flatnonzero(view.action_mask[row]).tolist()
            number, name = listed[step % len(listed)]
            for said in (number, name, f"**{name.title()}**", f'{{"action": "{name}"}}', f"Well.\nAction: {name}"):
                assert ACTIONS[read_answer(said, view, row)] == name
            for said in ("kong", "discard 1z"):  # reasons come from the view, too
                assert refusal(said, view, row) == refusal(said, twin.view(), 0)
        engine.step(random_actions(engine.action_mask, rng))


def refusal(said, view, row):
    try:
        return read_answer(said, view, row)
    except UnclearAnswerError as error:
        return str(error)


def test_what_has_happened_is_told_in_order():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=OFFER)
    for name in ("discard 5m", "pung", "discard 1p"):
        engine.step([action(name)])
    first, second = (seat_text(engine.view(seats=person)).splitlines() for person in (0, 1))
    assert "up to your last move: you discard 5m" in first
    assert "since then: player_1 claims 5m from you: pung 555m@0; player_1 discards 1p" in first
    assert (
        "up to your last move: player_0 discards 5m; you claim 5m from player_0: pung 555m@0; you discard 1p" in second
    )
    assert "your tiles in words: 3 of Characters, 4 of Characters, 4 of Characters, 6 of Characters" in second[-1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rules_in_short_have_every_row_and_the_house_rules(variant):
    chosen = rules(variant)
    page = rules_in_short(chosen)
    assert all(f"\n* {row.name} {row.chinese.partition(' ')[0]}, " in page for row in chosen.rows)
    assert not re.search(r"```|\]\(|\{\{|^(Guide|Source):", page, re.MULTILINE)
    assert 800 < len(page.split()) < 1400 + 12 * len(chosen.rows)
    assert page in instructions(chosen)
    assert "House rules of this table" not in page
    name, choices = next((name, values) for name, values in chosen.knob_choices().items() if len(values) > 1)
    other = next(value for value in choices if value != chosen.knobs[name])
    assert f"`{name}={other!r}`" in rules_in_short(rules(variant, **{name: other}))


def test_the_rules_in_short_are_a_command(capsys):
    assert main(["rules", "--variant", "hebei", "--short", "--markdown"]) == 0
    assert capsys.readouterr().out == f"{rules_in_short('hebei')}\n"


def test_somebody_who_is_not_asked_is_told_the_table_alone():
    engine = make_engine("wuhan", 1, seed=4)
    told = prompt(engine.view(seats=(int(engine.seat_to_act[0]) + 1) % 4))
    assert HOW_TO_ANSWER not in told
    assert "your tiles in words" in told


# --- The environment of one seat in words ---------------------------------------------------------------------------


HEBEI = "mahjong_env/Hebei-text-v0"


@pytest.mark.parametrize("variant", variants("hebei", "hangzhou"))
def test_the_checker_of_gymnasium_and_whole_matches(variant):
    identity = text_id(variant, dict(ENTRY_MODULES.values())[variant])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(identity, disable_env_checker=True).unwrapped)
    words, numbers = gymnasium.make(identity, num_hands=2), gymnasium.make(identity.replace("-text", ""), num_hands=2)
    observation, info = words.reset(seed=5)
    _, same = numbers.reset(seed=5)
    rng, over, results = np.random.default_rng(5), False, 0
    while not over:
        assert words.observation_space.contains(observation), set(observation) - words.observation_space.character_set
        assert (info["action_mask"] == same["action_mask"]).all()
        chosen = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, *wanted, same = numbers.step(chosen)
        observation, *found, info = words.step(f"I think it is time to {ACTIONS[chosen]}.")
        results += observation.startswith(("you win", "player_", "the hand is drawn"))
        assert found == wanted
        over = found[1]
    assert results >= 1


def test_a_variant_whose_page_does_not_have_its_chinese_name():
    class Village(type(rules("hebei"))):
        chinese = "潮汐村麻将"

    words = TextSeatEnv(Village(base_score=2))
    observation, _ = words.reset(seed=5)
    assert "潮汐村麻将" in observation
    assert words.observation_space.contains(observation)


def test_the_instructions_come_with_the_first_observation():
    env = gymnasium.make(HEBEI, seat=0, base_score=2)
    observation, info = env.reset(seed=0)
    assert info["instructions"] == env.unwrapped.instructions
    assert "base_score=2" in info["instructions"]
    assert "you may\n1: " in observation


def test_what_is_refused_plays_nothing_and_is_asked_again():
    env = gymnasium.make(HEBEI, seat=0, tries=3)
    observation, _ = env.reset(seed=0)
    before = env.unwrapped.engine.snapshot().to_bytes()
    again, reward, terminated, truncated, told = env.step("chow low")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert again == f"refused: {told['refused']}\n{observation}"
    assert "there is nothing to claim" in told["refused"]
    assert env.unwrapped.engine.snapshot().to_bytes() == before
    assert env.step("what?")[0].startswith("refused: 'what?' names no action")
    env.unwrapped.reset(seed=0)
    assert env.observation_space.contains(env.step("好吧 \N{THUMBS UP SIGN}")[0])
    played = env.step("1")  # which begins anew to count
    assert "refused" not in played[-1]
    for _ in range(2):
        assert not env.step("what?")[2]
    last, reward, terminated, _, told = env.step("what?")
    assert terminated
    assert told["illegal_action"]
    assert reward == pytest.approx(-3 * env.unwrapped.engine.rules.sigma)
    assert last == "the episode is over: too many answers have been refused"


def test_the_last_refusal_may_be_an_error():
    env = gymnasium.make(HEBEI, seat=0, tries=1, on_illegal="raise")
    env.reset(seed=0)
    before = env.unwrapped.engine.snapshot().to_bytes()
    with pytest.raises(UnclearAnswerError, match="names no action"):
        env.step("what?")
    assert env.unwrapped.engine.snapshot().to_bytes() == before
    assert not env.step("1")[2]


def test_wrong_arguments():
    with pytest.raises(RulesError, match="tries is an integer from 1"):
        gymnasium.make(HEBEI, tries=0)
    with pytest.raises(RulesError, match="the observation of this environment is text"):
        gymnasium.make(HEBEI, observation="dict")
    env = gymnasium.make(HEBEI, disable_env_checker=True)
    env.reset(seed=0)
    with pytest.raises(ActionError, match="an answer is text"):
        env.step(3)


def test_a_copy_goes_on_as_the_original():
    env = gymnasium.make(HEBEI, seat=0)
    env.reset(seed=0)
    env.step("what?")
    twin = copy.deepcopy(env)
    for said in ("what?", "1", "2", "what?"):
        one, other = env.step(said), twin.step(said)
        assert one[:4] == other[:4]
