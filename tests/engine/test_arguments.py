"""Arrays of the caller that observations and steps fill, and numpy's integers as arguments."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env import ActionError, Deal, make_engine, rules, score
from mahjong_env.testing import random_actions

GAMES = 6


@pytest.fixture
def engine():
    return make_engine("taiwan", num_games=GAMES, seed=3, auto_reset=True)


def buffers(engine, games=GAMES):
    return {
        "observation": np.full((games, *engine.observation_shape), 77, np.int8),
        "action_mask": np.full((games, 109), True),
        "rewards": np.full((games, engine.num_people), 99, np.int32),
    }


def test_observations_are_written_where_the_caller_wants_them(engine):
    out = np.full((GAMES, *engine.observation_shape), 77, np.int8)
    assert engine.observe(out=out) is out
    np.testing.assert_array_equal(out, engine.observe())
    engine.observe([4, 1], [2, 3], out=out[:2])
    np.testing.assert_array_equal(out[:2], engine.observe([4, 1], [2, 3]))
    with pytest.raises(ActionError, match=r"out is \[6, 38, 34\] int8, not \[6, 38, 34\] float32"):
        engine.observe(out=out.astype(np.float32))


@pytest.mark.parametrize("games", [None, [5, 0, 2]])
def test_a_step_fills_what_it_is_given(games):
    engine = make_engine("hebei", num_games=GAMES, seed=3, auto_reset=True)
    rng, asked = np.random.default_rng(5), np.arange(GAMES) if games is None else np.array(games)
    out = buffers(engine, len(asked))
    paid = 0
    for _ in range(200):
        result = engine.step(random_actions(engine.action_mask, rng)[asked], games, out=out)
        np.testing.assert_array_equal(out["rewards"], result.rewards)
        np.testing.assert_array_equal(out["action_mask"], engine.action_mask[asked])
        np.testing.assert_array_equal(out["observation"], engine.observe(asked))
        paid += np.abs(result.rewards).sum()
    assert paid > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda out: [out], "out is a dictionary of arrays to be filled"),
        (lambda out: {**out, "mask": out["action_mask"]}, "out has no place for 'mask'; valid are observation"),
        (lambda out: {"rewards": out["rewards"].tolist()}, "is a numpy array [6, 4] int32 to be filled, not list"),
        (lambda out: {"rewards": out["rewards"][:5]}, "out['rewards'] is [6, 4] int32, not [5, 4] int32"),
        (lambda out: {"rewards": out["rewards"].astype(np.int64)}, "is [6, 4] int32, not [6, 4] int64"),
        (lambda out: {"observation": np.repeat(out["observation"], 2, axis=2)[..., ::2]}, "C-contiguous"),
        (lambda out: {"rewards": np.broadcast_to(np.zeros(4, np.int32), (6, 4))}, "C-contiguous and writable"),
    ],
)
def test_what_cannot_be_filled_is_refused_before_anything_is_played(engine, change, words):
    before = engine.snapshot().to_bytes()
    with pytest.raises(ActionError) as refused:
        engine.step(engine.action_mask.argmax(axis=1), out=change(buffers(engine)))
    assert words in str(refused.value)
    assert engine.snapshot().to_bytes() == before


@pytest.mark.filterwarnings("error")  # of memory that torch may write to and numpy may not
def test_torch_reads_the_same_memory(engine):
    torch = pytest.importorskip("torch")
    tensor = torch.zeros((GAMES, *engine.observation_shape), dtype=torch.int8)
    engine.step(engine.action_mask.argmax(axis=1), out={"observation": tensor.numpy()})
    np.testing.assert_array_equal(tensor.numpy(), engine.observe())
    for array in (engine.observe(), engine.action_mask):
        assert torch.from_numpy(array).data_ptr() == array.ctypes.data


@pytest.mark.filterwarnings("error")  # of overflows
@pytest.mark.parametrize("integer", [np.uint8, np.int64, np.uint64])
def test_integers_of_numpy_are_integers(integer):
    plain, other = make_engine("taiwan", seed=3), make_engine("taiwan", seed=3)
    all_of_them = rules("taiwan").drawable  # more than there are once flowers have been replaced
    plain.reset(deals=Deal(dealer=3, dealer_streak=1, tiles_left=all_of_them, running_points=[9, 9, 9, 9]))
    deal = Deal(
        dealer=integer(3),
        dealer_streak=integer(1),
        tiles_left=integer(all_of_them),
        running_points=np.full(4, 9, integer),
    )
    other.reset(deals=deal)
    assert other.snapshot().to_bytes() == plain.snapshot().to_bytes()
    plain.step(plain.action_mask.argmax(axis=1))
    events = plain.view().recent_events(3)
    np.testing.assert_array_equal(plain.view().recent_events(integer(3)), events)

    hand = {"hand": "456s 234p 78p 55m 777s 111s", "winning_tile": "9p", "source": "draw"}
    assert score("taiwan", **hand, seat=integer(0), dealer=integer(3)) == score("taiwan", **hand, seat=0, dealer=3)
