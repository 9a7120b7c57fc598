"""The engine as users hold it: steps, snapshots, matches; what every variant has to keep to is checked by the kit."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mahjong_env
from mahjong_env import (
    ActionError,
    Deal,
    IllegalActionError,
    RulesError,
    Snapshot,
    SnapshotError,
    action,
    make_engine,
    score,
)
from mahjong_env.engine import arguments
from mahjong_env.observation.planes import FACT_PLACES, plane
from mahjong_env.state.arrays import State
from mahjong_env.testing import random_actions
from mahjong_env.testing.play import changed_array, frozen_arrays


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def play(engine, rng, steps):
    for _ in range(steps):
        engine.step(random_actions(engine.action_mask, rng))


class TestWhatIsPromised:
    def test_actions_are_numbered_for_good(self):
        names = ("discard 1m", "discard 7z", "concealed kong 1m", "added kong 1m", "chow low", "pung", "kong", "win")
        assert [action(name) for name in names] == [0, 33, 34, 68, 102, 105, 106, 107]
        assert len(mahjong_env.ACTIONS) == action("pass") + 1 == 109

    def test_shapes_and_types(self, rng):
        engine = make_engine("hebei", 6, seed=3)
        result = engine.step(random_actions(engine.action_mask, rng))
        for array, shape, dtype in (
            (engine.seat_to_act, (6,), np.int8),
            (engine.action_mask, (6, 109), np.bool_),
            (engine.points, (6, 3), np.int32),
            (result.rewards, (6, 3), np.int32),
            (result.hand_over, (6,), np.bool_),
            (result.done, (6,), np.bool_),
            (engine.observe(), (6, *engine.observation_shape), np.int8),
            (engine.observe(games=[2, 2, 5], seats=[0, 1, 2]), (3, *engine.observation_shape), np.int8),
        ):
            assert (array.shape, array.dtype) == (shape, dtype)

    def test_arrays_that_are_kept_stay_what_they_were(self, rng):
        """What a user naturally collects over some steps; and what is written to it changes no game."""
        engine = make_engine("hebei", 8, seed=3, auto_reset=True)
        kept, copies = [], []
        for _ in range(200):
            mask = engine.action_mask
            result = engine.step(random_actions(mask, rng))
            kept += [mask, result.rewards, result.done, engine.observe()]
            copies += [array.copy() for array in kept[-4:]]
        assert all(np.array_equal(array, before) for array, before in zip(kept, copies, strict=True))
        engine.action_mask[...] = True
        with pytest.raises(IllegalActionError):
            engine.step((~engine.action_mask).argmax(axis=1))

    def test_auto_reset_never_waits_for_nobody(self, rng):
        engine = make_engine("hebei", 16, seed=1, auto_reset=True)
        done = 0
        for _ in range(600):
            done += int(engine.step(random_actions(engine.action_mask, rng)).done.sum())
            assert (engine.seat_to_act >= 0).all()
        assert done > 16

    def test_finished_games_ignore_their_entries(self, rng):
        engine = make_engine("hebei", 3, seed=1)
        while (engine.seat_to_act >= 0).all():
            engine.step(random_actions(engine.action_mask, rng))
        over = int(np.flatnonzero(engine.seat_to_act < 0)[0])
        actions = random_actions(engine.action_mask, rng)
        actions[over] = 10_000
        result = engine.step(actions)
        assert not result.rewards[over].any()
        assert not result.done[over]
        assert not engine.action_mask[over].any()

    def test_a_seed_may_be_any_size(self):
        walls = [make_engine("hebei", 1, seed=seed).state.wall[0].tolist() for seed in (0, 1, 2**64, 2**200)]
        assert len({tuple(wall) for wall in walls}) == 4


class TestLooking:
    @pytest.mark.parametrize("variant", sorted(mahjong_env.VARIANTS))
    def test_games_may_be_none_repeated_or_in_any_order(self, variant, rng):
        engine = make_engine(variant, 6, seed=3)
        play(engine, rng, 40)
        everything = engine.observe()
        assert np.array_equal(engine.observe([4, 0, 4]), everything[[4, 0, 4]])
        assert engine.observe([]).shape == (0, *engine.observation_shape)
        assert len(engine.view([])) == 0

    def test_the_longest_matches_are_shown_as_127_hands_to_come(self):
        engine = make_engine("wuhan", 1, seed=0, num_hands=32_767)
        assert engine.observe()[0, plane("facts")].ravel()[FACT_PLACES["hands_to_come"]] == 127


class TestCopies:
    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
    def test_snapshots_are_copied_and_pickled(self, again, rng):
        engine = make_engine("hebei", 3, seed=1)
        play(engine, rng, 10)
        snapshot, before = again(engine.snapshot()), frozen_arrays(engine)
        assert snapshot.to_bytes() == engine.snapshot().to_bytes()
        with pytest.raises(ValueError, match="read-only"):
            snapshot.arrays["hand"][0] = 0
        play(engine, rng, 10)
        engine.restore(snapshot)
        assert changed_array(engine, before) is None

    def test_a_snapshot_of_another_format_is_refused_by_its_number(self):
        data = make_engine("hebei", 1, seed=1).snapshot().to_bytes()
        with pytest.raises(SnapshotError, match="format 2; this version reads format 6"):
            Snapshot.from_bytes(data.replace(b"snapshot 6", b"snapshot 2"))
        with pytest.raises(SnapshotError, match="read from bytes, not from str"):
            Snapshot.from_bytes("text")

    @pytest.mark.parametrize(
        ("header", "message"),
        [
            ({}, "hand.npy would take 64.0 MiB unpacked"),
            ({"num_games": "many"}, "number of games"),
            ({"num_games": 2**62}, "hand.npy would take 64.0 MiB unpacked"),
            ({"more": "x" * 10**6}, "header.npy would take"),
        ],
    )
    def test_what_would_fill_the_memory_is_refused_before_it_is_unpacked(self, header, message, monkeypatch):
        monkeypatch.setattr("mahjong_env.engine.snapshot.free_memory", lambda: 2**25)
        whole = make_engine("hebei", 2, seed=1).snapshot()
        arrays = {"hand": np.zeros(2**26, np.int8)} if "more" not in header else dict(whole.arrays)
        data = Snapshot({**whole.header, **header}, arrays).to_bytes()
        with pytest.raises(SnapshotError, match=message):
            Snapshot.from_bytes(data)

    def test_other_arrays_are_refused(self):
        engine = make_engine("hebei", 2, seed=1)
        snapshot = engine.snapshot()
        arrays = dict(snapshot.arrays)
        arrays["hand"] = arrays["hand"].astype(np.int16)
        before = frozen_arrays(engine)
        with pytest.raises(SnapshotError, match="'hand'"):
            engine.restore(Snapshot(snapshot.header, arrays))
        del arrays["hand"]
        with pytest.raises(SnapshotError, match="hand"):
            engine.restore(Snapshot(snapshot.header, arrays))
        assert changed_array(engine, before) is None


class TestLimits:
    def test_copies_that_cannot_fit_are_refused(self, monkeypatch):
        engine = make_engine("hebei", 2, seed=1)
        monkeypatch.setattr(arguments, "free_memory", lambda: 2**29)
        with pytest.raises(RulesError, match=r"200000 games would take about .* of memory; 512.0 MiB is free"):
            engine.select(np.zeros(200_000, np.intp))
        assert engine.select(np.zeros(3, np.intp)).num_games == 3

    def test_the_bytes_of_a_game_are_those_of_its_arrays(self):
        engine = make_engine("taiwan", 7)
        taken = sum(array.nbytes for array in engine.state.arrays().values())
        assert State.bytes_of(arguments.axes_of(engine.rules, 7)) == taken

    def test_games_may_be_numbered_without_a_sign(self):
        engine = make_engine("wuhan", 40, seed=1)
        games = np.array([1, 0], np.uint64)
        assert np.array_equal(engine.observe(games), engine.observe([1, 0]))
        with pytest.raises(ActionError, match="twice"):
            engine.reset(games=np.array([1, 1], np.uint64))
        with pytest.raises(ActionError, match=f"no game {2**63}"):
            engine.reset(games=np.array([2**63, 1], np.uint64))

    def test_streaks_count_to_a_thousand(self):
        """Longer ones would leave their 16 bits, and what Taiwan pays for them 32."""
        engine = make_engine("taiwan", 2, seed=1, num_hands=2, unit=100_000, base_score=100_000, dead_tiles=71)
        engine.reset(deals=Deal(dealer_streak=1000))
        while not engine.state.hand_in_match.all():
            mask = engine.action_mask
            engine.step(np.where(mask[:, action("pass")], action("pass"), mask.argmax(axis=1)))
        assert engine.state.streak.tolist() == [1000, 1000]
        told = {"hand": "123m 456m 789m 123p 456p 5s", "winning_tile": "5s", "source": "draw", "dealer": 0}
        paid = score(engine.rules, dealer_streak=1000, **told).payments
        assert paid[0] == -sum(paid[1:]) > 3 * 2001 * 100_000
