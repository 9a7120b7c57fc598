"""The engine as users hold it: steps, partial steps, resets, copies, matches, and every kind of wrong input."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import mahjong_env
from mahjong_env import (
    ActionError,
    Deal,
    DealError,
    IllegalActionError,
    MahjongError,
    RulesError,
    Snapshot,
    SnapshotError,
    action,
    make_engine,
)
from mahjong_env.engine import arguments
from mahjong_env.observation.planes import FACT_PLACES, plane
from mahjong_env.state.arrays import State
from mahjong_env.testing import random_actions

IDLE = ("147m 258p 369s 1234z 9p", "258m 369p 147s 1567z", "369m 147p 258s 2345z")


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def play(engine, rng, steps):
    for _ in range(steps):
        engine.step(random_actions(engine.action_mask, rng))


def arrays_of(engine):
    return {name: array.copy() for name, array in engine.state.arrays().items()}


def unchanged(engine, before):
    return all(np.array_equal(array, before[name]) for name, array in engine.state.arrays().items())


class TestWhatIsPromised:
    def test_actions_are_numbered_for_good(self):
        assert len(mahjong_env.ACTIONS) == 109
        assert [action(name) for name in ("discard 1m", "discard 7z", "concealed kong 1m", "added kong 1m")] == [
            0,
            33,
            34,
            68,
        ]
        assert [action(name) for name in ("chow low", "pung", "kong", "win", "pass")] == [102, 105, 106, 107, 108]

    def test_shapes_and_types(self, rng):
        engine = make_engine("hebei", 6, seed=3)
        assert engine.seat_to_act.dtype == np.int8
        assert engine.action_mask.shape == (6, 109)
        assert engine.action_mask.dtype == np.bool_
        assert engine.points.dtype == np.int32
        result = engine.step(random_actions(engine.action_mask, rng))
        assert result.rewards.shape == (6, 3)
        assert result.rewards.dtype == np.int32
        assert result.hand_over.shape == result.done.shape == (6,)
        observation = engine.observe()
        assert observation.shape == (6, *engine.observation_shape)
        assert observation.dtype == np.int8
        assert engine.observe(games=[2, 2, 5], seats=[0, 1, 2]).shape[0] == 3

    def test_masks_that_are_kept_stay_what_they_were(self, rng):
        """What a user naturally collects over some steps; and what is written to it changes no game."""
        engine = make_engine("hebei", 8, seed=3, auto_reset=True)
        kept, copies = [], []
        for _ in range(5):
            mask = engine.action_mask
            kept.append(mask)
            copies.append(mask.copy())
            engine.step(random_actions(mask, rng))
        assert all(np.array_equal(mask, copy) for mask, copy in zip(kept, copies, strict=True))
        assert not np.array_equal(kept[0], kept[-1])
        mask = engine.action_mask
        mask[...] = True
        assert not engine.action_mask.all()
        illegal = (~engine.action_mask).argmax(axis=1)
        with pytest.raises(IllegalActionError):
            engine.step(illegal)

    def test_masks_can_be_handed_to_torch(self):
        torch = pytest.importorskip("torch")
        mask = make_engine("hebei", 2, seed=3).action_mask
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of memory that torch may write to and numpy may not
            assert torch.from_numpy(mask).sum() == mask.sum()

    def test_results_are_fresh_arrays(self, rng):
        engine = make_engine("hebei", 4, seed=1, auto_reset=True)
        result = engine.step(random_actions(engine.action_mask, rng))
        kept = result.rewards.copy(), result.done.copy(), engine.observe()
        seen = kept[2].copy()
        play(engine, rng, 200)
        assert np.array_equal(result.rewards, kept[0])
        assert np.array_equal(result.done, kept[1])
        assert np.array_equal(kept[2], seen)

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

    def test_stepping_some_games_leaves_the_others(self, rng):
        engine = make_engine("hebei", 8, seed=1)
        before = arrays_of(engine)
        games = [6, 1]
        result = engine.step(random_actions(engine.action_mask[games], rng), games=games)
        assert result.rewards.shape == (2, 3)
        others = [0, 2, 3, 4, 5, 7]
        assert all(np.array_equal(array[others], before[name][others]) for name, array in engine.state.arrays().items())
        assert not unchanged(engine, before)

    def test_resetting_some_games_leaves_the_others(self):
        engine = make_engine("hebei", 4, seed=1)
        before = arrays_of(engine)
        engine.reset(games=[2])
        changed = [not np.array_equal(engine.state.wall[game], before["wall"][game]) for game in range(4)]
        assert changed == [False, False, True, False]

    def test_a_seed_may_be_any_size(self):
        walls = [make_engine("hebei", 1, seed=seed).state.wall[0].tolist() for seed in (0, 1, 2**64, 2**200)]
        assert len({tuple(wall) for wall in walls}) == 4

    def test_a_match_carries_points_dealer_and_streak(self, rng):
        engine = make_engine("hebei", 8, seed=2, num_hands=4)
        hands = np.zeros(8, int)
        total = np.full((8, 3), 50)
        while (engine.seat_to_act >= 0).any():
            result = engine.step(random_actions(engine.action_mask, rng))
            hands += result.hand_over
            total += result.rewards
        assert (hands == 4).all()
        assert np.array_equal(engine.points, total)

    def test_the_outcome_says_who_won_what(self):
        engine = make_engine("hebei", 1, seed=0)
        engine.reset(deals=Deal(hands=("123m 456m 789m 22p 55s 2p", "147m 258p 369s 1234z", "369m 147p 258s 2345z")))
        result = engine.step([action("win")])
        outcome = result.outcome
        assert result.done[0]
        assert outcome.game.tolist() == [0]
        assert outcome.winner.tolist() == [0]
        assert outcome.source.tolist() == ["draw"]
        assert outcome.from_seat.tolist() == [-1]
        assert sorted(outcome.rows[0]) == [("Closed Hand", 2), ("Dealer Win", 2), ("One Dragon", 2)]
        assert outcome.value.tolist() == [8]
        assert outcome.payments.tolist() == result.rewards.tolist() == [[16, -8, -8]]
        assert outcome.points.tolist() == [[66, 42, 42]]


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
    def test_select_copies(self, rng):
        engine = make_engine("hebei", 4, seed=1)
        play(engine, rng, 20)
        twin = engine.select([3, 3, 0])
        before = arrays_of(engine)
        assert np.array_equal(twin.state.hand, engine.state.hand[[3, 3, 0]])
        play(twin, rng, 10)
        assert unchanged(engine, before)

    def test_snapshot_goes_back(self, rng):
        engine = make_engine("hebei", 4, seed=1, num_hands=2)
        play(engine, rng, 30)
        before = arrays_of(engine)
        snapshot = engine.snapshot()
        play(engine, rng, 200)
        engine.restore(snapshot)
        assert unchanged(engine, before)

    def test_snapshot_arrays_are_frozen(self):
        snapshot = make_engine("hebei", 1, seed=1).snapshot()
        with pytest.raises(ValueError, match="read-only"):
            snapshot.arrays["hand"][0] = 0

    @pytest.mark.parametrize(
        "options",
        [
            {"num_games": 5},
            {"num_games": 4, "cap": 8},
            {"num_games": 4, "num_hands": 3},
            {"num_games": 4, "players": 4},
        ],
    )
    def test_a_foreign_snapshot_is_refused(self, options):
        snapshot = make_engine("hebei", 4, seed=1).snapshot()
        other = make_engine("hebei", seed=1, **options)
        before = arrays_of(other)
        with pytest.raises(SnapshotError, match="does not fit"):
            other.restore(snapshot)
        assert unchanged(other, before)

    def test_every_changed_byte_is_noticed(self):
        engine = make_engine("hebei", 1, seed=1)
        data = engine.snapshot().to_bytes()
        rng = np.random.default_rng(0)
        for place in range(len(data)):
            damaged = bytearray(data)
            damaged[place] ^= int(rng.integers(1, 256))
            with pytest.raises(SnapshotError):
                Snapshot.from_bytes(bytes(damaged))
        assert Snapshot.from_bytes(data).to_bytes() == data

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
    def test_snapshots_are_copied_and_pickled(self, again, rng):
        engine = make_engine("hebei", 3, seed=1)
        play(engine, rng, 10)
        snapshot, before = again(engine.snapshot()), arrays_of(engine)
        assert snapshot.to_bytes() == engine.snapshot().to_bytes()
        with pytest.raises(ValueError, match="read-only"):
            snapshot.arrays["hand"][0] = 0
        play(engine, rng, 10)
        engine.restore(snapshot)
        assert unchanged(engine, before)

    def test_a_snapshot_of_another_format_is_refused_by_its_number(self):
        data = make_engine("hebei", 1, seed=1).snapshot().to_bytes()
        with pytest.raises(SnapshotError, match="format 2; this version reads format 3"):
            Snapshot.from_bytes(data.replace(b"snapshot 3", b"snapshot 2"))
        with pytest.raises(SnapshotError, match="read from bytes, not from str"):
            Snapshot.from_bytes("text")

    @pytest.mark.parametrize("cut", [0, 1, 10, 1000, -1])
    def test_damaged_bytes_are_refused(self, cut):
        data = make_engine("hebei", 2, seed=1).snapshot().to_bytes()
        with pytest.raises(SnapshotError, match="not a snapshot"):
            Snapshot.from_bytes(data[:cut])

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
        before = arrays_of(engine)
        with pytest.raises(SnapshotError, match="'hand'"):
            engine.restore(Snapshot(snapshot.header, arrays))
        del arrays["hand"]
        with pytest.raises(SnapshotError, match="hand"):
            engine.restore(Snapshot(snapshot.header, arrays))
        assert unchanged(engine, before)

    def test_resampling_keeps_what_the_seat_knows(self, rng):
        engine = make_engine("hebei", 32, seed=1)
        play(engine, rng, 40)
        live = np.flatnonzero(engine.seat_to_act >= 0)
        seats = engine.seat_to_act[live]
        before = engine.observe(live)
        walls = engine.state.wall[live].copy()
        engine.resample_hidden(seats, rng, games=live)
        assert np.array_equal(engine.observe(live), before)
        assert (engine.state.wall[live] != walls).any(axis=1).all()


class TestWrongInput:
    def test_unknown_variant(self):
        with pytest.raises(RulesError, match=r"no variant 'sichuan'.*hebei"):
            make_engine("sichuan")

    def test_unknown_knob_lists_the_knobs(self):
        with pytest.raises(RulesError, match=r"no knob 'caps'.*cap \(None, any integer from 1 to 100000\)"):
            make_engine("hebei", caps=8)

    @pytest.mark.parametrize(
        ("knob", "value"),
        [
            ("cap", 0),
            ("cap", "8"),
            ("players", 5),
            ("players", True),
            ("rotation", 1),
            ("all_pungs", 2.0),
            ("base_score", None),
        ],
    )
    def test_wrong_knob_value_lists_the_valid(self, knob, value):
        with pytest.raises(RulesError, match=rf"{knob}=.* is not valid; valid are "):
            mahjong_env.rules("hebei", **{knob: value})

    @pytest.mark.parametrize("options", [{"num_games": 0}, {"num_games": 2.5}, {"num_hands": 0}, {"start": "middle"}])
    def test_wrong_counts(self, options):
        with pytest.raises(RulesError, match=r"is not valid|is an integer"):
            make_engine("hebei", **options)

    @pytest.mark.parametrize("value", ["no", 1, None, np.int64(1)])
    def test_auto_reset_is_a_flag(self, value):
        with pytest.raises(RulesError, match="auto_reset is True or False, not"):
            make_engine("hebei", auto_reset=value)

    @pytest.mark.parametrize(("number", "size"), [(10**9, "TiB"), (10**20, "TiB"), (np.int64(10**12), "TiB")])
    def test_more_games_than_fit_are_refused_before_anything_is_taken(self, number, size):
        with pytest.raises(RulesError, match=rf"{number} games would take about [\d,.]+ {size} of memory; .* is free"):
            make_engine("hebei", number)

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

    def test_numbers_and_flags_of_numpy_are_as_good_as_those_of_python(self, rng):
        options = {"num_games": np.int64(4), "num_hands": np.int8(2), "seed": np.uint32(7), "auto_reset": np.True_}
        engine = make_engine("hebei", players=np.int64(4), **options)
        twin = make_engine("hebei", 4, num_hands=2, seed=7, auto_reset=True, players=4)
        assert engine.snapshot().to_bytes() == twin.snapshot().to_bytes()
        assert type(engine.num_games) is int
        assert engine.auto_reset is True

    def test_no_games_can_be_stepped(self):
        engine = make_engine("hebei", 3, seed=1)
        before = arrays_of(engine)
        for actions, games in (([], []), (np.zeros(0, np.int64), np.zeros(3, np.bool_)), ((), np.zeros(0, np.intp))):
            result = engine.step(actions, games=games)
            assert result.rewards.shape == (0, 3)
            assert len(result.done) == len(result.outcome) == 0
        assert unchanged(engine, before)
        with pytest.raises(ActionError):
            engine.step([])

    @pytest.mark.parametrize("rng", [5, None, np.random.RandomState(5), np.random.default_rng])
    def test_hidden_tiles_are_drawn_with_a_generator(self, rng):
        engine = make_engine("hebei", 2, seed=1)
        before = arrays_of(engine)
        with pytest.raises(ActionError, match=r"rng is a numpy.random.Generator, such as"):
            engine.resample_hidden(0, rng)
        assert unchanged(engine, before)

    @pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
    def test_wrong_seeds(self, seed):
        with pytest.raises(MahjongError, match="a seed is"):
            make_engine("hebei", seed=seed)

    def test_an_illegal_action_changes_nothing_in_the_batch(self, rng):
        engine = make_engine("hebei", 4, seed=1)
        play(engine, rng, 10)
        before = arrays_of(engine)
        actions = random_actions(engine.action_mask, rng)
        actions[2] = int(np.flatnonzero(~engine.action_mask[2])[0])
        with pytest.raises(
            IllegalActionError, match=rf"game 2, seat {engine.seat_to_act[2]}: .* not legal; legal are "
        ):
            engine.step(actions)
        assert unchanged(engine, before)

    @pytest.mark.parametrize("actions", [[0, 1], [[0]], 0, [0.0], ["discard 1m"], [True], [None], [-1], [109], [2**40]])
    def test_actions_of_wrong_shape_type_or_range(self, actions):
        engine = make_engine("hebei", 1, seed=1)
        before = arrays_of(engine)
        with pytest.raises(ActionError):
            engine.step(actions)
        assert unchanged(engine, before)

    @pytest.mark.parametrize("games", [[4], [-1], [0, 0], [0.5], [[0]], [True, False]])
    def test_wrong_game_numbers(self, games):
        with pytest.raises(ActionError):
            make_engine("hebei", 4, seed=1).reset(games=games)

    @pytest.mark.parametrize("seats", [3, -1, [0, 1, 9], 0.5])
    def test_wrong_seats(self, seats):
        with pytest.raises(MahjongError, match="seats are"):
            make_engine("hebei", 3, seed=1).observe(seats=seats)


class TestWrongDeals:
    @pytest.mark.parametrize(
        ("deal", "message"),
        [
            ({"hands": ("11111m",)}, "5 tiles 1m"),
            ({"hands": ("111m",), "draws": "1m", "replacements": "1m"}, "5 tiles 1m"),
            ({"hands": ("F1",)}, "1 tiles F1"),
            ({"hands": ("1m",) * 4}, "at most 3 hands"),
            ({"hands": ("123456789m 12345p",), "dealer": 1}, "seat 0 names 14 tiles"),
            ({"hands": ("123456789m 123456p",)}, "may name at most 14"),
            ({"hands": ("1x",)}, "cannot read"),
            ({"hands": ("8z",)}, "cannot read"),
            ({"dealer": 3}, "dealer is an integer from 0 to 2"),
            ({"dealer": "0"}, "dealer is an integer"),
            ({"dealer_streak": -1}, "dealer_streak"),
            ({"wild": "1m"}, "turns up no tile"),
            ({"indicator": "1m"}, "turns up no tile"),
            ({"tiles_left": 85}, "tiles_left is an integer from 0 to 84"),
            ({"running_points": (1, 2)}, "running_points are 3 integers"),
            ({"round_wind": "5z"}, "a wind is"),
            ({"house_winds": "1z 1z 2z"}, "house_winds names each"),
        ],
    )
    def test_impossible_deals_change_nothing(self, deal, message):
        engine = make_engine("hebei", 2, seed=1)
        before = arrays_of(engine)
        with pytest.raises(MahjongError, match=message):
            engine.reset(deals=Deal(**deal))
        assert unchanged(engine, before)

    def test_a_deal_for_each_game(self):
        engine = make_engine("hebei", 2, seed=1)
        engine.reset(deals=[Deal(hands=IDLE), Deal(hands=("19m",), dealer=2)])
        assert engine.seat_to_act.tolist() == [0, 2]
        with pytest.raises(DealError, match="a list of 2"):
            engine.reset(deals=[Deal(hands=IDLE)])

    def test_named_tiles_come_as_named(self):
        engine = make_engine("hebei", 1, seed=1)
        engine.reset(deals=Deal(hands=IDLE, draws="2m 2z 8p", tiles_left=3))
        for seat, drawn in ((0, "9p"), (1, "2m"), (2, "2z"), (0, "8p")):
            assert engine.seat_to_act[0] == seat
            assert mahjong_env.basics.tiles.KIND_NAMES[engine.state.drawn[0]] == drawn
            result = engine.step([action(f"discard {drawn}")])
        assert result.done[0]
        assert result.outcome.winner.tolist() == [-1]
