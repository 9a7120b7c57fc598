"""What an episode is, what its learner is paid, and who plays the others: the same in every shell."""

import gymnasium
import numpy as np
import pytest

import mahjong_env
from mahjong_env import VARIANTS, AgentError, Deal, MahjongError, OpponentPool, action, rules
from mahjong_env.environments.aec import MahjongAEC
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.environments.learning_seats import LearningSeats
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.records import read_records

HEBEI = "mahjong_env/Hebei-v0"
EPISODES = 6
WIN = action("win")
KONGS = slice(action("concealed kong 1m"), action("chow low"))


class Eager:
    """Wins, then declares kongs, then takes the first legal action, or 0 if none is: no chance at all."""

    name = "eager"

    def act(self, view, rng=None):
        return np.array([eager(mask) for mask in view.action_mask])


def eager(mask):
    legal = np.flatnonzero(mask)
    best = [*legal[legal == WIN], *legal[(legal >= KONGS.start) & (legal < KONGS.stop)], *legal, 0]
    return int(best[0])


# --- One table, played in every shell: the rewards of each episode --------------------------------------------


def paid_in_pettingzoo(variant, seat, seed):
    """The reference: nothing but points, as the PettingZoo environment pays them to each person."""
    env = MahjongAEC(variant)
    episodes, first = [], True
    while len(episodes) < EPISODES:
        env.reset(seed=seed if first else None)
        first, rewards, before = False, [], 0
        while not any(env.terminations.values()):
            agent = env.agent_selection
            observation, reward, *_ = env.last()
            if agent == f"player_{seat}":
                before += reward
                if rewards:
                    rewards[-1], before = rewards[-1] + before, 0
                rewards.append(0)
            env.step(eager(observation["action_mask"]))
        if rewards:
            rewards[-1] += env._cumulative_rewards[f"player_{seat}"]
            episodes.append(rewards)
    return episodes


def paid_in_single_seat(variant, seat, seed):
    env, episodes = SingleSeatEnv(variant, seat=seat, opponents=Eager()), []
    for number in range(EPISODES):
        _, info = env.reset(seed=seed if number == 0 else None)
        rewards, over = [], False
        while not over:
            _, reward, terminated, truncated, info = env.step(eager(info["action_mask"]))
            rewards.append(reward)
            over = terminated or truncated
        episodes.append(rewards)
    return episodes


def paid_in_vector(mode):
    def paid(variant, seat, seed):
        others = [Eager()] * (rules(variant).people - 1)
        envs = MahjongVectorEnv(3, variant, seat=seat, opponents=others, autoreset_mode=mode)
        envs.reset(seed=seed)
        episodes, is_new = [[]], False
        while len(episodes) <= EPISODES:
            actions = [eager(mask) for mask in envs.action_masks()]
            _, rewards, terminations, truncations, _ = envs.step(np.array(actions))
            over = terminations | truncations
            if not is_new:
                episodes[-1].append(rewards[0])
            else:
                assert rewards[0] == 0, "a step that only begins an episode pays nothing"
            if over[0]:
                episodes.append([])
            is_new = mode == "next_step" and over[0]
            if mode == "disabled" and over.any():
                envs.reset(options={"reset_mask": over})
        return episodes[:EPISODES]

    return paid


def paid_in_training(variant, seat, seed):
    vec_env = pytest.importorskip("mahjong_training.sb3.vec_env", exc_type=ImportError)
    env = vec_env.TableVecEnv(rules(variant), 3, [Eager()], seed=seed, seat=seat)
    with pytest.MonkeyPatch.context() as patch:  # training deals from seeds of its own
        patch.setattr(vec_env, "training_seed", lambda seed: seed)
        env.reset()
    episodes = [[]]
    while len(episodes) <= EPISODES:
        _, rewards, dones, infos = env.step(np.array([eager(mask) for mask in env.action_masks()]))
        episodes[-1].append(rewards[0])
        if dones[0]:
            assert sum(episodes[-1]) == infos[0]["episode"]["r"]
            assert len(episodes[-1]) == infos[0]["episode"]["l"]
            episodes.append([])
    return episodes[:EPISODES]


SHELLS = {
    "Gymnasium": paid_in_single_seat,
    "vector, same step": paid_in_vector("same_step"),
    "vector, next step": paid_in_vector("next_step"),
    "vector, disabled": paid_in_vector("disabled"),
    "training": paid_in_training,
}


@pytest.mark.thorough
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_every_shell_pays_the_same_on_the_same_deals(variant):
    seat = rules(variant).seats - 1
    expected = paid_in_pettingzoo(variant, seat, seed=4)
    for name, play in SHELLS.items():
        assert play(variant, seat, 4) == expected, name


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_points_from_before_the_first_decision_come_with_the_first_reward(shell):
    # Found by search: before the learner is asked in its second hand, somebody has declared a kong.
    seed, seat, early = 26, 2, 0
    engine = mahjong_env.make_engine("hebei", 1, seed=seed)
    points = []
    while len(points) < EPISODES:  # the same games without any environment
        was_asked = False
        while engine.seat_to_act[0] >= 0:
            if engine.seat_to_act[0] == seat and not was_asked:
                was_asked = True
                early += engine.points[0, seat] != engine.rules.starting_points
            engine.step([eager(engine.action_mask[0])])
        if was_asked:
            points.append(engine.points[0, seat] - engine.rules.starting_points)
        engine.reset()
    assert early > 0, "the seed has no such game: nothing was shown"
    assert [sum(rewards) for rewards in SHELLS[shell]("hebei", seat, seed)] == points


# --- Opponents ------------------------------------------------------------------------------------------------


class Marked(Eager):
    """Counts the seats that it plays for."""

    def __init__(self, name="marked"):
        self.name, self.asked, self.calls = name, 0, 0

    def act(self, view, rng):
        self.asked, self.calls = self.asked + len(view), self.calls + 1
        return super().act(view)


def play_on(envs, steps=10):
    for _ in range(steps):
        envs.step(np.array([eager(mask) for mask in envs.unwrapped.action_masks()]))


def test_opponents_are_replaced_while_the_environment_runs():
    first, second = Marked("first"), Marked("second")
    envs = gymnasium.make_vec(HEBEI, num_envs=16, opponents=first)
    envs.reset(seed=1)
    play_on(envs)
    assert first.asked > 5 * first.calls > 0, "opponents answer in batches"
    before = first.asked
    with pytest.raises(AgentError, match="no agent is called"):
        envs.unwrapped.opponents = "nobody"
    assert envs.unwrapped.opponents == (first, first), "what cannot be used changes nothing"
    envs.unwrapped.opponents = second
    assert envs.unwrapped.opponents == (second, second)
    play_on(envs, 1)
    assert (first.asked, second.asked > 0) == (before, True), "at once, in hands that are under way"
    gymnasium.wrappers.vector.RecordEpisodeStatistics(envs).unwrapped.opponents = [first, second]
    assert envs.unwrapped.opponents == (first, second)
    play_on(envs)
    assert first.asked > before


def test_opponents_may_be_drawn_from_a_pool():
    pool = [Marked("a"), Marked("b"), Marked("c")]
    envs = gymnasium.make_vec(HEBEI, num_envs=256, opponents=OpponentPool(pool))
    envs.reset(seed=1)
    play_on(envs, 40)
    asked = np.array([agent.asked for agent in pool])
    assert asked.min() > 0.8 * asked.mean()
    seating = envs.unwrapped._seats._seating
    who = seating.who.copy()
    newer = [Marked("d"), Marked("e"), Marked("f")]
    envs.unwrapped.opponents = OpponentPool(newer)
    before = envs.unwrapped._seats.engine.state.hands_dealt.copy()
    play_on(envs, 1)
    same = envs.unwrapped._seats.engine.state.hands_dealt == before
    assert np.array_equal(seating.who[same], who[same]), "as many agents: each takes over the seats of the one before"
    assert [agent.asked for agent in pool] == asked.tolist()
    envs.unwrapped.opponents = OpponentPool([*newer, *pool])
    play_on(envs)
    assert (np.array([agent.asked for agent in pool]) > asked).all(), "others are drawn anew"


def test_one_seed_seats_the_same_agents_however_often_it_is_reset():
    env = SingleSeatEnv("hebei", opponents=OpponentPool([Marked("a"), Marked("b"), Marked("c")]), seat=0)
    seen = []
    for _ in range(3):
        env.reset(seed=7)
        seen.append((env._seats.names(0), env.np_random.bit_generator.state))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("newer", [Marked("c"), OpponentPool([Marked("c")])])
def test_a_record_names_those_who_played(newer, tmp_path):
    deal = Deal(hands=["123456789m 22p 555s"], dealer=0)
    env = SingleSeatEnv("hebei", opponents=[Marked("a"), Marked("b")], seat=0, record=tmp_path / "games.jsonl")
    for _ in range(2):
        env.reset(seed=1, options={"deal": deal})
        env.opponents = newer  # who has no decision left
        env.step(WIN)
    env.close()
    told = [record.agents for record in read_records(tmp_path / "games.jsonl")]
    assert told == [("learner", "a", "b"), ("learner", "c", "c")]


def test_the_learner_may_move_on_by_one():
    env = SingleSeatEnv("hebei", seat="rotate", opponents=Eager())
    seats = [env.reset(seed=1)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(20))]
    assert (np.diff(seats) % 3 == 1).all()


def test_a_hand_in_which_the_learner_is_not_asked_does_not_move_it_on():
    seats, games = LearningSeats(rules("fuzhou"), 64, seat="rotate", opponents=Eager()), np.arange(64)
    rng = np.random.default_rng(2)
    seats.begin(games, rng, seed=2)
    before, unasked = seats.learner.copy(), 0
    for _ in range(150):
        dealt = seats.engine.state.hands_dealt.copy()
        seats.step(games, [eager(mask) for mask in seats.action_masks(games)], rng, on_end=lambda ended: None)
        assert np.array_equal(seats.learner, (before + seats.ended) % 4)
        unasked += int((seats.engine.state.hands_dealt - dealt - seats.ended).sum())
        before = seats.learner.copy()
    assert unasked > 0, "there is something to see"


def test_an_agent_that_fails_leaves_nothing_that_can_be_played_on():
    class Fails(Marked):
        def act(self, view, rng):
            if self.asked > 40:
                raise ZeroDivisionError
            return super().act(view, rng)

    agent = Fails()
    envs = gymnasium.make_vec(HEBEI, num_envs=8, opponents=agent)
    envs.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        play_on(envs, 50)
    with pytest.raises(MahjongError, match="reset all tables first"):
        play_on(envs, 1)
    with pytest.raises(MahjongError, match="reset all tables first"):
        envs.reset(options={"reset_mask": np.arange(8) < 3})
    envs.unwrapped.opponents = RandomAgent()
    envs.reset()
    play_on(envs)


# --- Going back to a snapshot -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: SingleSeatEnv("hebei", opponents=Eager()),
        lambda: MahjongVectorEnv(6, "hebei", opponents=[Eager(), Marked()], autoreset_mode="disabled"),
    ],
)
def test_a_restored_engine_takes_its_environment_along(make):
    env = make()
    env.reset(seed=1)

    def step():
        masks = env.action_masks()
        return env.step(np.array([eager(mask) for mask in masks]) if masks.ndim > 1 else eager(masks))

    for _ in range(3):
        step()
    snapshot = env.engine.snapshot()

    def play_out():
        told, over = [env.action_masks().tolist()], False
        while not over:
            observation, *paid, info = step()
            told.append((observation.tolist(), np.array(paid).tolist(), np.array(info["seat"]).tolist()))
            over = np.any(paid[1:])
        return told

    first = play_out()
    for _ in range(4):  # other episodes, with other learners
        env.reset()
    env.engine.restore(snapshot)
    assert play_out() == first
    with pytest.raises(gymnasium.error.ResetNeeded):
        step()
    env.engine.restore(snapshot)
    step()


def test_each_learner_sees_its_own_table():
    seats, games = LearningSeats(rules("hebei"), 6), np.arange(6)
    seats.begin(games, np.random.default_rng(1), seed=1)
    to_act = seats.engine.seat_to_act
    assert len(set(to_act.tolist())) > 1
    assert np.array_equal(seats.observe(games), seats.engine.view(seats=to_act).observation)
    assert np.array_equal(seats.observe(games[[4, 2]]), seats.engine.view([4, 2], to_act[[4, 2]]).observation)
