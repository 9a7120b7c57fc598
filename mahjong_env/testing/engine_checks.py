"""The checks of engines: tiles and books, legal actions, ends, points, reproducibility, and what seats see."""

from __future__ import annotations

from itertools import count, cycle
from typing import Any

import numpy as np

from mahjong_env.basics.actions import (
    ACTIONS,
    ADDED_KONG,
    CHOW_LOW,
    CONCEALED_KONG,
    KONG,
    NUM_ACTIONS,
    PASS,
    PUNG,
    WIN,
)
from mahjong_env.basics.errors import IllegalActionError, MahjongError, SnapshotError
from mahjong_env.basics.notation import (
    MeldType,
    format_counts,
    format_tiles,
)
from mahjong_env.basics.tiles import EAST, IS_SUITED, KIND_NAMES, NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.claim_rules import OPTION_ACTIONS
from mahjong_env.engine.outcome import Outcome
from mahjong_env.engine.phases import claims
from mahjong_env.engine.phases.judge import judge_turn
from mahjong_env.engine.phases.masks import write_masks
from mahjong_env.engine.phases.settle import most_actions
from mahjong_env.engine.scene import Deal
from mahjong_env.engine.snapshot import Snapshot
from mahjong_env.hands.codes import encode
from mahjong_env.observation.one_seat import MOST_GAMES
from mahjong_env.observation.planes import LAYOUT, PIECES, plane
from mahjong_env.observation.view import View
from mahjong_env.observation.visibility import hidden_entries
from mahjong_env.scoring.wins import Scores, Source, Wins, wins_from_state
from mahjong_env.state.arrays import (
    CLAIMED,
    DISCARDED,
    LATEST,
    MAX_DISCARDS,
    MAX_MELDS,
    MELD_LIST,
    MELD_PLACES,
    MELDED,
    NO_SEAT,
    SLOT_OF_OFFSET,
    Phase,
    State,
)
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    changed_array,
    choose_actions,
    frozen_arrays,
    live_games,
    play_together,
    positions,
    random_actions,
    require,
    require_same_states,
    view_differences,
)

# --- Tiles and books -------------------------------------------------------------------------------------------------


def check_tiles_conserved(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that no tile appears or vanishes, no count is negative, and every seat has the right number of tiles."""
    engine = make(games, seed=seed, num_hands=2)
    for _ in positions(engine, seed):
        require_tiles(engine)


def require_tiles(engine: Engine) -> None:
    """Raise `ConformanceError` unless the running games hold each tile of the set once."""
    state, deck = engine.state, engine.rules.deck
    is_over = engine.seat_to_act == NO_SEAT
    counts = count_all_tiles(engine)
    wrong = np.argwhere((counts != deck) & ~is_over[:, None])
    if wrong.size:
        game, kind = wrong[0]
        raise ConformanceError(f"game {game}: {counts[game, kind]} tiles {KIND_NAMES[kind]} instead of {deck[kind]}")
    for name, tiles in (("hand", state.hand), ("flowers", state.flowers)):
        if (tiles < 0).any():
            game, seat, kind = np.argwhere(tiles < 0)[0]
            number = tiles[game, seat, kind]
            raise ConformanceError(f"game {game}, seat {seat}: {number} tiles {KIND_NAMES[kind]} in {name}")
    require(state.front + state.back <= state.wall.shape[1], "more tiles have been drawn than there are")
    size = state.hand.sum(axis=2) + 3 * state.num_melds
    wanted = np.full(size.shape, engine.rules.hand_size)
    holding = np.flatnonzero((state.phase == Phase.TURN) | (state.phase == Phase.OPENING))
    wanted[holding, state.turn[holding]] += 1
    wrong = np.argwhere((size != wanted) & ~is_over[:, None])
    if wrong.size:
        game, seat = wrong[0]
        raise ConformanceError(f"game {game}, seat {seat}: {size[game, seat]} tiles instead of {wanted[game, seat]}")


def count_all_tiles(engine: Engine) -> Int64Array:
    """Count the tiles of each kind in hands, melds, flowers, discards, wall and the tile turned up: [B, 42] int64."""
    state = engine.state
    counts = np.zeros((engine.num_games, NUM_ALL_KINDS), np.int64)
    counts += state.flowers.sum(axis=1)
    counts[:, :NUM_KINDS] += state.hand.sum(axis=1) + _melded_tiles(engine, hidden=True).sum(axis=1)
    river = np.abs(state.river)
    row, seat, place = np.nonzero((river > 0) & (river <= CLAIMED))  # discards that nobody has claimed
    np.add.at(counts, (row, river[row, seat, place] - 1), 1)
    counts += state.wall_counts(np.arange(engine.num_games))
    # A tile that may be robbed is in no hand, and not yet in a meld.
    for outside, kind in ((state.indicator >= 0, state.indicator), (state.phase == Phase.ROB, state.offered)):
        row = np.flatnonzero(outside)
        np.add.at(counts, (row, kind[row]), 1)
    return counts


def check_bookkeeping(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that what is stored twice agrees: codes, public planes, lists of melds and discards, tenpai flags."""
    engine = make(games, seed=seed, num_hands=2)
    for _ in positions(engine, seed):
        require_books(engine)


def require_books(engine: Engine) -> None:
    """Raise `ConformanceError` where an array of a running game contradicts the arrays that it follows from."""
    state = engine.state
    everyone, kinds = np.arange(engine.num_games), np.arange(NUM_KINDS)
    holds_extra = np.isin(state.phase, (Phase.TURN, Phase.OPENING, Phase.ROB, Phase.STRANDED))
    between_turns = ~(holds_extra[:, None] & (np.arange(engine.num_seats) == state.turn[:, None]))
    pung_kinds = np.where(state.meld_type == MeldType.PUNG, state.meld_kind, NO_TILE)
    flower_kinds = engine.rules.flower_kinds
    compared: dict[str, tuple[Any, Any]] = {
        "code": (state.code, encode(state.natural_hands(everyone))),
        "num_melds": (np.arange(MAX_MELDS) < state.num_melds[..., None], state.meld_type > MeldType.NONE),
        "open_pung": (state.open_pung, (pung_kinds[..., None] == kinds).any(axis=2)),
        "river_size": (np.arange(MAX_DISCARDS) < state.river_size[..., None], state.river != 0),
        "public (discards)": (state.public[:, :, DISCARDED], (np.abs(state.river)[..., None] == kinds + 1).sum(axis=2)),
        "river (claimed discards)": (np.abs(state.river) > CLAIMED, state.river_claimed > 0),
        "public (claimed discards)": _claimed_discards(engine),
        "public (melded tiles)": (state.public[:, :, MELDED], _melded_tiles(engine, hidden=False)),
        "public (list of melds)": (state.public[:, :, MELD_LIST], _meld_list(engine)),
        "public (latest discards)": _latest_discards(engine),
        "flowers": (np.where(flower_kinds, 0, state.flowers), 0),
        "hand (flowers in it)": (np.where(flower_kinds[:NUM_KINDS], state.hand, 0), 0),
        "is_tenpai": (state.is_tenpai & between_turns, _is_tenpai(engine) & between_turns),
    }
    if engine.rules.has_wild:
        compared["wild"] = (state.wild, engine.rules.wild_kinds(state.indicator))
    is_over = engine.seat_to_act == NO_SEAT
    for name, (kept, counted) in compared.items():
        agree = (kept == counted).reshape(engine.num_games, -1).all(axis=1)
        require(agree | is_over, f"{name} does not agree with hands, melds and discards")


def _melded_tiles(engine: Engine, *, hidden: bool) -> Int64Array:
    """Return [B, S, 34] tiles in melds, counted from the list; ``hidden``: including those that not all may see."""
    state = engine.state
    counts = np.zeros((engine.num_games, engine.num_seats, NUM_KINDS), np.int64)
    counted = state.meld_type != MeldType.NONE
    if engine.rules.hides_concealed_kongs and not hidden:
        counted &= state.meld_type != MeldType.CONCEALED_KONG
    game, seat, place = np.nonzero(counted)
    meld_type, kind = state.meld_type[game, seat, place], state.meld_kind[game, seat, place]
    is_chow = meld_type == MeldType.CHOW
    np.add.at(counts, (game, seat, kind), np.where(is_chow, 1, np.where(meld_type == MeldType.PUNG, 3, 4)))
    for step in (1, 2):
        np.add.at(counts, (game[is_chow], seat[is_chow], kind[is_chow] + step), 1)
    return counts


def _meld_list(engine: Engine) -> Int64Array:
    """Return [B, S, 34] the plane MELD_LIST, rebuilt from the arrays of melds."""
    state = engine.state
    listed = np.zeros((engine.num_games, engine.num_seats, NUM_KINDS), np.int64)
    is_hidden = (state.meld_type == MeldType.CONCEALED_KONG) & engine.rules.hides_concealed_kongs
    offset = (state.meld_from - np.arange(engine.num_seats)[:, None]) % engine.num_seats
    giver = np.where(state.meld_from >= 0, SLOT_OF_OFFSET[engine.num_seats][offset], 0)
    entries = (state.meld_type, np.where(is_hidden, 0, state.meld_kind + 1), giver, state.meld_claimed + 1)
    for meld in range(MAX_MELDS):
        for place, entry in enumerate(entries):
            listed[..., meld * MELD_PLACES + place] = np.where(state.meld_type > 0, entry, 0)[..., meld]
    claimed = slice(4, MAX_MELDS * MELD_PLACES, MELD_PLACES)  # compared with the rivers by `_claimed_discards`
    listed[..., claimed] = state.public[:, :, MELD_LIST, claimed]
    return listed


def _claimed_discards(engine: Engine) -> tuple[Any, Any]:
    """Return [B, S, M] the claimed kind of each meld, and that of the discard that its entry names; 0 for none."""
    state = engine.state
    number = state.public[:, :, MELD_LIST, 4 : MAX_MELDS * MELD_PLACES : MELD_PLACES]
    game, seat, meld = np.nonzero(state.meld_from >= 0)
    giver, place = state.meld_from[game, seat, meld], number[game, seat, meld] - 1
    slot = SLOT_OF_OFFSET[engine.num_seats][(seat - giver) % engine.num_seats]
    is_it = (place >= 0) & (state.river_claimed[game, giver, place] == slot)
    named = np.zeros(number.shape, np.int64)
    named[game, seat, meld] = np.where(is_it, np.abs(state.river[game, giver, place]) - CLAIMED, -1)
    return state.meld_claimed + 1, named


def _latest_discards(engine: Engine) -> tuple[Any, Any]:
    """Return, as found and as wanted, [B, 3]: the highest discard number, whether one is missing, and one is shared."""
    state = engine.state
    latest = state.public[:, :, LATEST].reshape(engine.num_games, -1)
    lying = state.public[:, :, DISCARDED].reshape(engine.num_games, -1) > 0
    unnumbered = (lying & (latest == 0)).any(axis=1)
    numbers = np.sort(latest, axis=1)
    twice = ((numbers[:, 1:] == numbers[:, :-1]) & (numbers[:, 1:] > 0)).any(axis=1)
    kept = np.column_stack([latest.max(axis=1), unnumbered, twice])
    return kept, np.column_stack([state.num_discards, np.zeros((engine.num_games, 2), np.int64)])


def _is_tenpai(engine: Engine) -> BoolArray:
    """Return [B, S] whether concealed tiles lack one tile at most."""
    state = engine.state
    natural = state.natural_hands(np.arange(engine.num_games))
    wilds = state.hand.sum(axis=2) - natural.sum(axis=2)
    lacking = engine.rules.tiles_short(encode(natural), wilds, state.num_melds)
    return np.asarray(lacking <= wilds + 1)


# --- Masks -----------------------------------------------------------------------------------------------------------


def check_mask_exact(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that actions in the mask are applied and all others refused, and that a refusal changes nothing."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in positions(engine, seed, every=7):
        if (live := live_games(engine)).size:
            _check_applied(engine)
            for game in rng.choice(live, min(2, len(live)), replace=False):
                _check_refused(engine, int(game), rng)


def _check_applied(engine: Engine) -> None:
    """Play every legal action of every game in a copy of its own."""
    game, action = np.nonzero(engine.action_mask)
    copies = engine.select(game)
    before = frozen_arrays(copies)
    try:
        copies.step(action)
    except IllegalActionError as error:
        raise ConformanceError(f"an action in the mask was refused: {error}") from error
    moved = np.zeros(len(game), np.bool_)
    for name, array in copies.state.arrays().items():
        moved |= (array != before[name]).reshape(len(game), -1).any(axis=1)
    require(moved, f"{ACTIONS[action[moved.argmin()]]!r} changes nothing", game)
    require_tiles(copies)


def _check_refused(engine: Engine, game: int, rng: np.random.Generator) -> None:
    """Try every illegal action alone, and one of them among legal ones."""
    before, illegal = frozen_arrays(engine), np.flatnonzero(~engine.action_mask[game]).tolist()
    among_legal = random_actions(engine.action_mask, rng)
    among_legal[game] = illegal[-1]
    alone = [(repr(ACTIONS[action]), action) for action in illegal] + [("-1", -1), (str(NUM_ACTIONS), NUM_ACTIONS)]
    tries: list[tuple[str, Any, Any]] = [(what, [action], [game]) for what, action in alone]
    for what, actions, games in (*tries, (f"{ACTIONS[illegal[-1]]!r} among legal actions", among_legal, None)):
        try:
            engine.step(actions, games)
        except IllegalActionError:
            if changed := changed_array(engine, before):
                raise ConformanceError(f"game {game}: the refusal of {what} changed {changed}") from None
        else:
            raise ConformanceError(f"game {game}: {what} is not in the mask, and was not refused")


def check_legal_actions(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that legal actions are those that phase and tiles allow, less those that the variant takes out.

    The common rules are those of common.md#claims, common.md#kongs and common.md#wild-tiles. Wins are checked by
    `check_scores`.
    """
    engine = make(games, seed=seed)
    for _ in positions(engine, seed):
        _check_possible(engine)


def _check_possible(engine: Engine) -> None:
    state, games = engine.state, live_games(engine)
    mask, phase = engine.action_mask[games], state.phase[games]
    possible = np.zeros(mask.shape, np.bool_)
    in_turn, claims = phase == Phase.TURN, phase == Phase.CLAIM
    possible[in_turn] = _possible_in_turn(engine, games[in_turn])
    possible[claims] = _possible_claims(engine, games[claims])
    possible[np.ix_(~in_turn & ~claims, [WIN, PASS])] = True
    expected = possible.copy()
    expected[in_turn] &= _kept_in_turn(engine, games[in_turn])
    expected[claims] &= _kept_claims(engine, games[claims])
    expected[:, WIN] &= mask[:, WIN]
    for wrong, what in ((mask & ~possible, "legal, but not possible"), (expected & ~mask, "possible, but not legal")):
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise ConformanceError(f"game {games[row]}, seat {state.actor[games[row]]}: {ACTIONS[action]!r} is {what}")
    require(~in_turn | mask[:, :NUM_KINDS].any(axis=1), "the seat in its turn may discard nothing", games)
    require(in_turn | mask[:, PASS], "a seat is asked and may not pass", games)
    require(in_turn | mask[:, :PASS].any(axis=1), "a seat is asked and has nothing to claim", games)


def _possible_in_turn(engine: Engine, games: Games) -> BoolArray:
    """Return [n, 109] the actions that the tiles in the hand allow."""
    state = engine.state
    seat = state.actor[games]
    held = state.hand[games, seat]
    possible = np.zeros((len(games), NUM_ACTIONS), np.bool_)
    possible[:, :CONCEALED_KONG] = held > 0
    pungs = np.where(state.meld_type[games, seat] == MeldType.PUNG, state.meld_kind[games, seat], -1)
    has_pung = (pungs[..., None] == np.arange(NUM_KINDS)).any(axis=1)
    may_draw = _left_to(engine, games, seat) > 0
    may_kong = ((state.drawn[games] >= 0) & _is_not_last(engine, games) & may_draw)[:, None]
    possible[:, CONCEALED_KONG:ADDED_KONG] = (held == 4) & may_kong
    possible[:, ADDED_KONG:CHOW_LOW] = (held > 0) & has_pung & may_kong
    possible[:, WIN] = state.drawn[games] >= 0
    return possible


def _is_not_last(engine: Engine, games: Games) -> BoolArray:
    """Return [n] whether the seat after the one in turn will find a tile to draw."""
    state = engine.state
    return np.asarray(_left_to(engine, games, (state.turn[games] + 1) % engine.num_seats) > 0)


def _left_to(engine: Engine, games: Games, seat: Int8Array) -> Int64Array:
    """Return [n] tiles that seats can draw; with private walls, counted from the tiles dealt and drawn."""
    state, rules = engine.state, engine.rules
    if not rules.has_private_walls:
        return state.left(games).astype(np.int64)
    last = rules.drawable - 1 - (seat - state.dealer[games] - 1) % rules.seats
    never_drawn = last // rules.seats - (last - state.reserve[games]) // rules.seats
    wall = int(rules.deck.sum()) // rules.seats - rules.hand_size - (seat == state.dealer[games])
    drawn = state.turns[games, seat] - (seat == state.dealer[games])
    kongs = (state.meld_type[games, seat] >= MeldType.EXPOSED_KONG).sum(axis=1)
    return np.asarray(wall - never_drawn - drawn - kongs)


def _possible_claims(engine: Engine, games: Games) -> BoolArray:
    """Return [n, 109] the claims that the tiles in the hand allow."""
    state, rows = engine.state, np.arange(len(games))
    seat, kind, giver = state.actor[games], state.offered[games], state.offered_by[games]
    natural = state.natural_hands(games)[rows, seat]
    may_win = (seat != giver) & (kind != state.wild[games])
    may_meld = may_win & _is_not_last(engine, games) & ~state.closing[games]
    possible = np.zeros((len(games), NUM_ACTIONS), np.bool_)
    possible[:, PUNG] = may_meld & (natural[rows, kind] >= 2)
    pungs = (state.meld_type[games, seat] == MeldType.PUNG) & (state.meld_kind[games, seat] == kind[:, None])
    possible[:, KONG] = (
        may_meld & (_left_to(engine, games, seat) > 0) & ((natural[rows, kind] >= 3) | pungs.any(axis=1))
    )
    is_next = seat == (giver + 1) % engine.num_seats
    for place in range(3):
        run = kind[:, None] - place + np.delete(np.arange(3), place)
        inside = (run >= 0) & (run < NUM_KINDS)
        run = np.where(inside, run, 0)
        has_both = inside.all(axis=1) & (natural[rows[:, None], run] > 0).all(axis=1)
        in_suit = IS_SUITED[kind] & (run // 9 == kind[:, None] // 9).all(axis=1)
        possible[:, CHOW_LOW + place] = may_meld & is_next & has_both & in_suit
    possible[:, WIN] = may_win
    possible[:, PASS] = True
    return possible


def _kept_in_turn(engine: Engine, games: Games) -> BoolArray:
    """Return [n, 109] the actions that the rules leave to seats in their turn."""
    state, rows, rules = engine.select(games).state, np.arange(len(games)), engine.rules
    state.mask[:] = True
    rules.limit_turn(state, state.seats_to_act(rows))
    kept = state.mask.copy()
    kept[:, CONCEALED_KONG:ADDED_KONG] &= rules.concealed_kong_kinds(state, rows, state.hand[rows, state.actor])
    return kept


def _kept_claims(engine: Engine, games: Games) -> BoolArray:
    """Return [n, 109] the claims that the rules leave to seats that are asked."""
    state, rows, rules = engine.select(games).state, np.arange(len(games)), engine.rules
    options = np.full((1, len(games)), -1, np.int8)  # all bits
    rules.limit_claims(state, state.seats(rows, state.actor[None]), options)
    dead = rules.unclaimable(state, rows)
    if dead is not None:
        options[:, dead] = 0
    kept = np.ones((len(games), NUM_ACTIONS), np.bool_)
    kept[:, OPTION_ACTIONS] = options[0, :, None] >> np.arange(len(OPTION_ACTIONS)) & 1
    kept[:, CHOW_LOW:PUNG] &= rules.claims_chows
    kept[:, KONG] &= rules.adds_discards | (state.natural_hands(rows)[rows, state.actor, state.offered] >= 3)
    return kept


# --- Ends ------------------------------------------------------------------------------------------------------------


def check_length(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that somebody always has a legal action until the hand ends, and that hands and matches end in time."""
    engine = make(games, seed=seed, num_hands=2)
    limit, num_hands, ends_by_hands = most_actions(engine.rules), engine.num_hands, engine.rules.ends_by_hands
    actions, hands, done = np.zeros(games, np.intp), np.zeros(games, np.intp), np.zeros(games, np.bool_)
    for result in positions(engine, seed):
        if result is None:
            continue
        actions = np.where(result.hand_over | done, 0, actions + 1)
        hands += result.hand_over
        done |= result.done
        require(actions <= limit, f"a hand does not end within {limit} actions")
        require(done == (engine.seat_to_act == NO_SEAT), "the match is done and waits, or is not and waits for nobody")
        if ends_by_hands:
            require(hands <= num_hands, f"a match of {num_hands} hands goes on after them")
    if ends_by_hands:
        require(done, f"{num_hands} hands do not end within {limit} actions each")


# --- Points ----------------------------------------------------------------------------------------------------------


def check_zero_sum(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that payments sum to zero, and that running points and outcomes agree with the rewards."""
    engine = make(games, seed=seed, num_hands=3)
    points = engine.points.astype(np.int64)
    for result in positions(engine, seed):
        if result is not None:
            require(result.rewards.sum(axis=1) == 0, "rewards do not sum to zero")
            points += result.rewards
            require(points == engine.points, "points of the game are not those paid")
            _check_outcome(engine, result.outcome)


def _check_outcome(engine: Engine, outcome: Outcome) -> None:
    games, sources = outcome.game, {source.word for source in Source}
    require(outcome.points == engine.points[games], "an outcome has other points than the game", games)
    require(outcome.payments.sum(axis=1) == 0, "payments of an outcome do not sum to zero", games)
    for place, game in enumerate(games.tolist()):
        source, payments = outcome.source[place], outcome.payments[place]
        if outcome.winner[place] >= 0:
            if source not in sources:
                raise ConformanceError(f"game {game}: the outcome has a winner, but no source")
        elif payments.any() or outcome.rows[place] or source or outcome.value[place]:
            raise ConformanceError(f"game {game}: the outcome has payments, rows, a source or a value, but no winner")


def check_scores(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that scoring is consistent, on made-up complete hands in the situations of played games.

    A hand that may not win has a reason, no rows and no payments. Of a hand that may win, only the winner receives
    points. The score of a hand does not depend on the hands beside it. `Rules.legal` and the mask of the seat to act
    agree with `Rules.score`.
    """
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    steps = count()
    for _ in positions(engine, seed):
        _check_wins_in_mask(engine)
        if next(steps) % 10 == 0 and (live := live_games(engine)).size:
            wins = _made_up_wins(engine, np.repeat(live, 4), rng)
            if len(wins):
                _check_scores_of(engine, wins, rng)


def _check_wins_in_mask(engine: Engine) -> None:
    """Check that seats in their turn or being asked may win exactly if their hand is complete and scored as legal."""
    state, rules = engine.state, engine.rules
    for phase, source in ((Phase.TURN, Source.DRAW), (Phase.CLAIM, Source.DISCARD), (Phase.ROB, Source.ROBBED_KONG)):
        by_draw = source is Source.DRAW
        tile = state.drawn if by_draw else state.offered
        games = np.flatnonzero((state.phase == phase) & (tile >= 0))
        if not games.size:
            continue
        seats = state.seats(games, state.actor[games])
        wins = wins_from_state(rules, state, seats, tile[games], source, -1 if by_draw else state.offered_by[games])
        kept = _kept_in_turn(engine, games) if by_draw else _kept_claims(engine, games)
        may_win = rules.complete(wins) & rules.score(wins).legal & kept[:, WIN]
        at_once = rules.may_win_at_once(state, seats) if by_draw else None
        if at_once is not None:
            may_win |= at_once
        offered = engine.action_mask[games, WIN]
        require(offered | ~may_win, "a seat may not win with a hand that is complete and legal", games)
        require(may_win | ~offered, "a seat may win with a hand that is not complete and legal", games)


def _made_up_wins(engine: Engine, games: Games, rng: np.random.Generator) -> Wins:
    """Make wins with complete hands from all sources; seats, melds and all else are those of the games."""
    state, rules = engine.state, engine.rules
    seat = rng.integers(0, engine.num_seats, len(games))
    wins = wins_from_state(rules, state, state.seats(games, seat), np.zeros(len(games), np.int8), Source.DRAW, -1)
    counts = _complete_hands(rules.sets - wins.own_melds, ~rules.never_melded[:NUM_KINDS], rng)
    row = np.arange(len(games))
    if rules.has_wild:
        has_wild = wins.wild >= 0
        counts[row[has_wild], wins.wild[has_wild]] = 0
        lacking = rules.sets * 3 + 2 - 3 * wins.own_melds - counts.sum(axis=1)
        counts[row[has_wild], wins.wild[has_wild]] = lacking[has_wild]
    wins.counts = counts
    wins.winning_tile = np.where(counts > 0, rng.random(counts.shape), -1).argmax(axis=1).astype(np.int8)
    wins.source = rng.choice([Source.DRAW, Source.DISCARD, Source.ROBBED_KONG], len(games)).astype(np.int8)
    giver = (seat + rng.integers(1, engine.num_seats, len(games))) % engine.num_seats
    by_draw = wins.source == Source.DRAW
    wins.from_seat = np.where(by_draw, -1, giver).astype(np.int8)
    wins.kong_draws, wins.flower_draw = wins.kong_draws * by_draw, wins.flower_draw & by_draw
    wins.first_draw = wins.first_draw & by_draw
    return wins.take((wins.tiles + wins.melded.kongs <= 4).all(axis=1))  # no fifth tile of a kind, melds included


def _complete_hands(sets: Int8Array, kinds: BoolArray, rng: np.random.Generator) -> Int8Array:
    """Return [n, 34] random sets (as many as given) and a pair of these kinds, some with more than four of a kind."""
    n, row = len(sets), np.arange(len(sets))
    starts = kinds & IS_SUITED[:NUM_KINDS] & (np.arange(NUM_KINDS) % 9 < 7)
    counts = np.zeros((n, NUM_KINDS), np.int8)
    counts[row, rng.choice(np.flatnonzero(kinds), n)] = 2
    for number in range(int(sets.max(initial=0))):
        is_run = rng.random(n) < 0.5
        counts[row, rng.choice(np.flatnonzero(kinds), n)] += np.where((number < sets) & ~is_run, 3, 0).astype(np.int8)
        start = rng.choice(np.flatnonzero(starts), n)
        for step in range(3):
            counts[row, start + step] += ((number < sets) & is_run).astype(np.int8)
    return counts


def _check_scores_of(engine: Engine, wins: Wins, rng: np.random.Generator) -> None:
    rules = engine.rules
    scores = rules.score(wins)
    winner = wins.seat[:, None] == np.arange(engine.num_seats)
    some = rng.permutation(len(wins))[: len(wins) // 2 + 1]
    contradictions: dict[str, Any] = {
        "a hand is legal and has a reason against it, or neither": scores.legal != (scores.reason == 0),
        "a hand that may not win has rows": ~scores.legal & scores.row_count.any(axis=1),
        "a hand that may not win has points": ~scores.legal & (scores.points != 0),
        "a hand that may not win is paid": ~scores.legal & scores.payments.any(axis=1),
        "a hand has negative points": scores.points < 0,
        "payments do not sum to zero": scores.payments.sum(axis=1, dtype=np.int64) != 0,
        "the winner pays": (scores.payments < 0) & winner,
        "somebody else is paid": (scores.payments > 0) & ~winner,
        "there is no such reason": (scores.reason < 0) | (scores.reason >= len(rules.reasons)),
        "a hand may win and is not complete": scores.legal & ~rules.complete(wins),
        "legal() and score() differ": rules.complete(wins) & (rules.legal(wins) != scores.legal),
        "what a hand scores depends on the hands beside it": _differ(rules.score(wins.take(some)), scores, some),
    }
    for what, found in contradictions.items():
        rows = np.flatnonzero(np.asarray(found).reshape(len(wins), -1).any(axis=1))
        if rows.size:
            row = rows[0]
            raise ConformanceError(
                f"{what}: concealed {format_counts(wins.counts[row])} with winning tile kind {wins.winning_tile[row]}, "
                f"source {Source(wins.source[row]).word}, seat {wins.seat[row]}, {wins.own_melds[row]} melds, "
                f"wild kind {wins.wild[row]}"
            )


def _differ(apart: Scores, scores: Scores, some: Games) -> BoolArray:
    """Return [n] the hands that score differently in a part of the batch than in all of it."""
    differ = np.zeros(len(scores.legal), np.bool_)
    for name in ("legal", "reason", "row_count", "row_value", "points", "payments"):
        one, other = getattr(apart, name), getattr(scores, name)[some]
        differ[some] |= (one != other).reshape(len(some), -1).any(axis=1)
    return differ


# --- The same games --------------------------------------------------------------------------------------------------


# Arrays that a deal does not name: chance, and what is left over from earlier hands.
_NOT_NAMED = ("seed", "stream", "hands_dealt", "turnover", "points", "dice")
_STEPS = 40  # steps before a copy is taken: hands are in their middle, and some games may be over


def check_seeds(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that the same seed and actions give the same games, and other seeds, games and hands other cards."""
    first, second = make(games, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    play_together(first, second, seed, np.arange(games), "the same seed")
    other, fresh = make(games, seed=seed + 1), make(games, seed=seed)
    walls = fresh.state.wall.copy()
    require((other.state.wall != walls).any(axis=1), "another seed deals the same cards")
    if len(np.unique(walls, axis=0)) < games:
        raise ConformanceError("two games of a seed are dealt the same cards")
    fresh.reset()
    require((fresh.state.wall != walls).any(axis=1), "the next hands of a seed are the same as the first")
    fresh.reset(seed=seed)
    require(fresh.state.wall == walls, "a seed that is set anew deals other cards")
    is_new = (second.state.wall != walls).any(axis=1) | (second.state.hand_in_match == 0)
    require(is_new, "the second hand of a match has the cards of the first")


def check_batch_independent(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that a game alone equals the same game in any batch, however the others are stepped, reset or finished."""
    everything = np.arange(games)
    alone, batch = make(1, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    play_together(alone, batch, seed, everything[:1], "a game alone")
    some = everything[::-2]
    batch, part = make(games, seed=seed), make(games, seed=seed).select(some)
    play_together(part, batch, seed, some, "selected games")
    whole, parted = make(games, seed=seed), make(games, seed=seed)
    play_together(parted, whole, seed, everything, "games stepped a part at a time", parts=3)
    engine = make(games, seed=seed)
    before = engine.select(everything)
    again, others = everything[::2], everything[1::2]
    engine.reset(games=again)
    require_same_states(engine.select(others), before, others, "games beside some that are dealt anew")
    is_new = (engine.state.wall[again] != before.state.wall[again]).any(axis=1)
    require(is_new, "a game that is dealt anew has the same cards", again)


def _play(engine: Engine, seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        engine.step(choose_actions(engine, rng))


def check_snapshots(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that snapshot, bytes and restore change nothing: the games continue the same, here or in another engine."""
    engine, twin = make(games, seed=seed, num_hands=2), make(games, seed=seed + 1, num_hands=2)
    everything = np.arange(games)
    _play(engine, seed, _STEPS)
    kept = engine.select(everything)
    snapshot = engine.snapshot()
    data = snapshot.to_bytes()
    _play(engine, seed, 2)
    try:
        twin.restore(Snapshot.from_bytes(data))
        require_same_states(twin, kept, everything, "an engine restored from bytes")
        if twin.snapshot().to_bytes() != data:
            raise ConformanceError("a restored engine gives another snapshot")
        engine.restore(snapshot)
    except SnapshotError as error:
        raise ConformanceError(f"an engine cannot be restored from a snapshot of its like: {error}") from error
    require_same_states(engine, kept, everything, "an engine that went back to a snapshot")
    play_together(twin, engine, seed, everything, "a restored engine")


def check_copies(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that selected games are copies: playing on in one engine leaves the games of the other as they were."""
    engine = make(games, seed=seed)
    _play(engine, seed, _STEPS // 2)
    chosen = np.array([games - 1, 0, games - 1])
    copies = engine.select(chosen)
    if type(copies) is not type(engine) or copies.num_games != len(chosen):
        raise ConformanceError(f"select gives a {type(copies).__name__} of {copies.num_games} games")
    require_same_states(copies, engine, chosen, "a copied game")
    for moved, still, whose in ((copies, engine, "of what they were copied from"), (engine, copies, "of copies")):
        before = frozen_arrays(still)
        _play(moved, seed, 5)
        if changed := changed_array(still, before):
            raise ConformanceError(f"playing on changed {changed} {whose}")


def check_deals(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that a dealt hand that is written down as a `Deal` is dealt again, tile by tile."""
    engine, twin = make(games, seed=seed), make(games, seed=seed + 1)
    try:
        twin.reset(deals=[_written_deal(engine, game) for game in range(games)])
    except MahjongError as error:
        raise ConformanceError(f"a hand that was dealt is refused as a deal: {error}") from error
    for name in State.names():
        if name not in _NOT_NAMED:
            require(getattr(engine.state, name) == getattr(twin.state, name), f"{name} is not as the deal names it")


def _written_deal(engine: Engine, game: int) -> Deal:
    """Return the hand that a game has just been dealt, with every tile of its wall named."""
    state, rules = engine.state, engine.rules
    wall = state.wall[game].tolist()
    size, dealer = rules.hand_size, int(state.dealer[game])
    hands = [wall[seat * size : (seat + 1) * size] for seat in range(rules.seats)]
    place = rules.seats * size
    hands[dealer].append(wall[place])
    place += 1
    turned: list[int] = []
    while rules.turns_indicator and (not turned or rules.flower_kinds[turned[-1]]):
        turned.append(wall[place])
        place += 1
    return Deal(
        hands=[format_tiles(hand) for hand in hands],
        draws=format_tiles(wall[place:]),
        indicator=format_tiles(turned) if turned else None,
        dealer=dealer,
        dealer_streak=int(state.streak[game]),
        round_wind=format_tiles([int(state.round_wind[game]) + EAST]),
        house_winds=format_tiles([int(wind) + EAST for wind in state.house_wind[game]]),
    )


# --- What seats see --------------------------------------------------------------------------------------------------


_SAMPLED = 5  # steps between two positions that a check examines
_UNWRITTEN = 99  # the number in places that have not been written; it is meaningless in all pieces
_QUESTIONS = (Phase.CLAIM, Phase.ROB, Phase.OPENING)


def check_observation(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check the shape, type and ranges of observations, and that they agree with views, masks and the state.

    Small batches, which are observed in plain Python, are checked too.
    """
    for number in {games, min(games, MOST_GAMES)}:
        engine = make(number, seed=seed, num_hands=2)
        for _ in positions(engine, seed, every=_SAMPLED):
            if (live := live_games(engine)).size:
                for person in (None, *range(engine.num_people)):
                    _check_seen(engine, live, person)


def _check_seen(engine: Engine, games: Games, person: int | None) -> None:
    """Check one person's observations; with None, those of the persons to act."""
    state, who = engine.state, "the seat to act" if person is None else f"person {person}"
    seen = engine.observe(games, person)
    if seen.shape != (len(games), *engine.observation_shape) or seen.dtype != np.int8:
        raise ConformanceError(f"an observation is {seen.dtype} of shape {seen.shape}")
    low, high = LAYOUT.ranges()
    view, visible = engine.view(games, person), engine._seen(games, person)
    for piece in PIECES:
        planes = plane(piece.name)
        numbers = seen[:, planes]
        inside = (numbers >= low[planes]) & (numbers <= high[planes])
        what = f"{who}: {piece.name} is not within its range, or a place that means nothing is not 0"
        require(inside, what, games)
        written = np.full((len(games), piece.planes, NUM_KINDS), _UNWRITTEN, np.int8)
        piece.write(visible, written)
        require(written == numbers, f"{who}: observation and view differ in {piece.name}", games)
    require(view.observation == seen, f"{who}: view and observe differ", games)
    seat, sits = state.actor[games], np.ones(len(games), np.bool_)
    if person is not None:
        at = state.person_at[games] == person
        seat, sits = at.argmax(axis=1), at.any(axis=1)
    is_to_act = sits & (seat == state.actor[games])
    mask = engine.action_mask[games] & is_to_act[:, None]
    require(view.action_mask == mask, f"{who}: the mask of the view is not that of the engine", games)
    require(view.hand == state.hand[games, seat] * sits[:, None], f"{who}: the hand is not the seat's own", games)


# --- Leaks -----------------------------------------------------------------------------------------------------------


def check_no_leak(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that noise in place of what a seat cannot see leaves its observation, view and legal actions unchanged.

    What a seat cannot see is taken from the declaration of the state's arrays (``seen_by`` in
    `mahjong_env.state.arrays`, read by `mahjong_env.observation.visibility`). Legal actions are computed anew with
    other hidden tiles. The check also makes sure that nobody sees that somebody else was asked and has passed.
    """
    engine = make(games, seed=seed, num_hands=2)
    rng = np.random.default_rng(seed)
    for _ in positions(engine, seed, every=_SAMPLED, first=_SAMPLED - 1):
        if not (live := live_games(engine)).size:
            continue
        for person in range(engine.num_people):
            twin = engine.select(live)
            before = twin.view(seats=person)
            _replace_hidden(twin, person, rng)
            _require_same_view(before, twin, live, person)
            _check_masks(engine, live, person, rng)
        _check_passes(engine, live)


def _require_same_view(before: View, twin: Engine, games: Games, person: int) -> None:
    """Raise `ConformanceError` unless a person sees in ``twin`` what it saw ``before``."""
    what = f"person {person} sees what it cannot know, in"
    for name, rows in view_differences(before, twin.view(seats=person)):
        raise ConformanceError(f"game {games[rows[0]]}: {what} {name}")
    require(twin.observe(seats=person) == before.observation, f"{what} observe()", games)


def _replace_hidden(engine: Engine, person: int, rng: np.random.Generator) -> None:
    """Put noise into everything that a person cannot see."""
    state = engine.state
    games, sits = np.arange(engine.num_games), state.person_at == person
    seat, present = sits.argmax(axis=1), sits.any(axis=1)
    is_asked = (state.actor == seat) & present
    # A person does not see whether and about what others are asked, unless it is asked about the same claim.
    elsewhere = (state.actor + rng.integers(1, engine.num_seats, len(games))) % engine.num_seats
    unknown = (state.phase != Phase.TURN) & ~is_asked & ~sits[games, elsewhere]
    state.actor[unknown] = elsewhere[unknown]
    for name, hidden in hidden_entries(state, engine.rules, games, seat, present).items():
        array = getattr(state, name)
        # Small numbers, which occur in hands, codes, walls and masks.
        noise = rng.integers(0, 2 if array.dtype == np.bool_ else 4, array.shape).astype(array.dtype)
        array[hidden] = noise[hidden]


def _check_masks(engine: Engine, games: Games, person: int, rng: np.random.Generator) -> None:
    """Check that a person's legal actions follow from what it sees: they stay the same with other hidden tiles."""
    asked = games[engine.seat_to_act[games] == person]
    if not asked.size:
        return
    twin = engine.select(asked)
    twin.resample_hidden(person, rng)
    state, context, everyone = twin.state, twin._context, np.arange(twin.num_games)
    drawn = everyone[(state.phase == Phase.TURN) & (state.drawn >= 0)]
    judge_turn(context, state.seats_to_act(drawn), unflagged=True)
    claims.ask_again(context, everyone[np.isin(state.phase, _QUESTIONS)], keeps_own=False)
    write_masks(context, everyone)
    wrong = np.argwhere(twin.action_mask != engine.action_mask[asked])
    if wrong.size:
        row, action = wrong[0]
        what = f"whether person {person} may {ACTIONS[action]!r} depends on what it cannot know"
        raise ConformanceError(f"game {asked[row]}: {what}")


def _check_passes(engine: Engine, games: Games) -> None:
    """Check that nobody sees a pass: a seat neither asked nor next in turn sees the same after it."""
    state = engine.state
    games = games[np.isin(state.phase[games], _QUESTIONS) & (state.best_precedence[games] == 0)]
    if not games.size:
        return
    twin = engine.select(games)
    before = [twin.view(seats=person) for person in range(twin.num_people)]
    knows = np.zeros((len(games), twin.num_people), np.bool_)
    over = np.zeros(len(games), np.bool_)
    while (waiting := np.flatnonzero(np.isin(twin.state.phase, _QUESTIONS) & ~over)).size:
        knows[waiting, twin.seat_to_act[waiting]] = True
        over[waiting] |= twin.step(np.full(len(waiting), PASS), games=waiting).hand_over
    for person, seen in enumerate(before):
        rows = np.flatnonzero(~knows[:, person] & (twin.seat_to_act != person) & ~over)
        for name, where in view_differences(seen.take(rows), twin.view(seats=person).take(rows)):
            game = games[rows[where[0]]]
            raise ConformanceError(f"game {game}: person {person} sees that others have passed, in {name}")


def check_resampling(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Check that `Engine.resample_hidden` changes only what a seat cannot see, and that the games can be played on."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    persons = cycle(range(engine.num_people))
    for _ in positions(engine, seed, every=_SAMPLED, first=_SAMPLED - 1):
        if (live := live_games(engine)).size:
            _check_resampled(engine, live, next(persons), rng)


def _check_resampled(engine: Engine, games: Games, person: int, rng: np.random.Generator) -> None:
    twin = engine.select(games)
    before = twin.view(seats=person)
    twin.resample_hidden(person, rng)
    _require_same_view(before, twin, games, person)
    require_tiles(twin)
    require_books(twin)
    is_same = np.array_equal(engine.state.wall[games], twin.state.wall)
    if len(games) > 1 and is_same and np.array_equal(engine.state.hand[games], twin.state.hand):
        raise ConformanceError(f"person {person}: resampling what is hidden changes nothing")
    for _ in range(4):
        if live_games(twin).size:
            twin.step(choose_actions(twin, rng))
            require_tiles(twin)
