"""Hangzhou mahjong (杭州麻将 Hángzhōu májiàng).

Its rules, written for players, are the page `hangzhou.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG
from mahjong_env.basics.chance import draw_numbers
from mahjong_env.basics.tiles import WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array, UInt32Array, UInt64Array
from mahjong_env.hands.codes import POWER, SUIT
from mahjong_env.hands.summaries import pairs, quads, short_of_sets, suit_summaries, sum_summaries
from mahjong_env.ruleset.questions import THE_WILD_KIND, Circumstance, knob, only_with_marks
from mahjong_env.scoring.arithmetic import EVERY_ROW, Arithmetic, Limit, Share, Term
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.payments import Payer, Payment, everyone, only
from mahjong_env.scoring.readings import SETS_AND_PAIR_AS_ONE, SEVEN_PAIRS, Readings, Shape
from mahjong_env.scoring.rows import ByKnob, Restriction, Row
from mahjong_env.scoring.wins import Wins
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

_GAMBITS = 0
"""The index of the mark that counts the fortunes that a seat has discarded in a row, up to its last discard."""
_MOST_GAMBITS = 4
_LAO_DICE = 200
"""The place of the two dice among the random numbers of a hand (`draw_numbers`)."""
_MELDS_FOR_PENALTY = 3

# fmt: off
ROWS = (
    Row("Base Score", "底分 dǐ fēn", ByKnob("base_score"), "every hand",
        per_hand=lambda win: 1),
    Row("Explosive Pair", "爆头 bào tóu", 2,
        "self-drawn; before the draw everything but one fortune was complete, so any tile would win",
        per_reading=lambda reading: _is_explosive(reading)),
    Row("Fortune Gambit", "财飘 cái piāo", 2,
        "self-drawn in the turn after discarding a fortune; for each fortune in a row",
        per_hand=lambda win: win.drawn * np.minimum(win.own_marks[:, _GAMBITS], _MOST_GAMBITS)),
    Row("Kong Blossom", "杠开 gàng kāi", 2, "self-drawn as the replacement tile of a kong; for each kong in a row",
        per_hand=lambda win: win.drawn * win.kong_draws),
    Row("Seven Pairs", "七对 qī duì", 2, "seven pairs",
        shape=SEVEN_PAIRS),
    Row("Pure Seven Pairs", "清七对 qīng qī duì", 2, "no fortune in the hand; counts beside Seven Pairs",
        shape=SEVEN_PAIRS, per_reading=lambda reading: reading.of(reading.wins.wilds) == 0),
    Row("Luxury Pairs", "豪华对 háo huá duì", 2, "for each four alike in seven pairs, fortunes not counted",
        shape=SEVEN_PAIRS,
        per_reading=lambda reading: reading.of(quads(reading.wins.suit_summaries, reading.wins.sum_of_summaries))),
)
RESTRICTIONS = (
    Restriction("nobody can claim a fortune that another player discards",
                per_hand=lambda win: ~win.drawn & (win.winning_tile == win.wild)),
    Restriction("during his own Fortune Gambit a player wins by self-draw only",
                per_hand=lambda win: ~win.drawn & (win.own_marks[:, _GAMBITS] > 0)),
    Restriction("at 1 and 2 Lao hands are won by self-draw only",
                per_hand=lambda win: _wants_the_dealer(win) & (_lao(win.streak, win.dice) < 3)),
    Restriction("another player's tile wins only if the winner or that player is the dealer",
                per_hand=lambda win: _wants_the_dealer(win) & ~win.by_dealer & (win.from_seat != win.dealer)),
)
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Hangzhou(ScoredRules):
    """The rules of Hangzhou mahjong; the fields are its knobs."""

    name: ClassVar[str] = "hangzhou"
    title: ClassVar[str] = "Hangzhou"
    chinese: ClassVar[str] = "杭州麻将"
    shapes: ClassVar[tuple[Shape, ...]] = (SETS_AND_PAIR_AS_ONE, SEVEN_PAIRS)
    rows: ClassVar[tuple[Row, ...]] = ROWS
    restrictions: ClassVar[tuple[Restriction, ...]] = RESTRICTIONS
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY,
        discard=ByKnob("discard_payment", {"own_share": Payer.GIVER_PAYS, "all_shares": Payer.GIVER_PAYS_FOR_ALL}),
        robbed_kong=Payer.GIVER_PAYS_FOR_ALL,
    )
    # The product of the rows, the base score among them (hangzhou.md#what-a-hand-is-worth). Fortunes stand for whatever
    # completes the shape, because no row depends on what they stand for.
    arithmetic: ClassVar[Arithmetic] = Arithmetic((Term(multiplied=EVERY_ROW),))
    # hangzhou.md#who-pays, hangzhou.md#the-cap
    share: ClassVar[Share] = Share(factor=lambda wins: _dealers_factors(wins), at_most=ByKnob("cap"))
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(("Three-Meld Penalty", "三摊承包"), lambda wins, owed: _with_penalty(wins, owed)),
        Limit(("nobody pays more than he has", "付完为止"), lambda wins, owed: _with_floor(wins, owed)),
    )
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance(
            "gambits",
            "fortunes that the winner has discarded in a row, up to now",
            discarded=THE_WILD_KIND,
            words=("fortunes discarded in a row", "财飘"),
            # A fortune begins or continues a gambit; any other tile ends it (hangzhou.md#fortune-gambit-the-play).
            after_discard=lambda gambits, kind, wild: (gambits + 1) * (kind == wild),
        ),
    )
    has_wild: ClassVar[bool] = True
    wild_words: ClassVar[tuple[str, str]] = "fortune", "财神"

    base_score: int = knob(
        1,
        choices=(1, 2, 3, 5),
        about="the value of every hand, which its rows multiply",
        chinese="每手牌的底分，番种乘它",
    )
    fortune: str = knob(
        "indicator",
        choices=("indicator", "white"),
        about="which tiles are wild: the three others of the kind turned up, or the four White Dragons",
        chinese="哪些牌是财神：翻出的那种牌的另外三张，还是四张白板：翻牌 / 白板",
    )
    cap: int | None = knob(
        None,
        choices=(None, 64, 128, 256),
        about="the limit to which each payer's share is cut",
        chinese="每家所付的封顶",
    )
    initial_points: int = knob(50, about="points of each person when a match begins", chinese="一场开始时每人的分数")
    points_floor: bool = knob(
        True,
        about="nobody pays more than they have (in matches, and where running points are given)",
        chinese="付分不超过手里的分数（比赛，以及给出当前分数时）",
    )
    lao_dice: bool = knob(
        False,
        about="two dice are thrown before each hand: doubles make it 3 Lao",
        chinese="每局前掷两个骰子：掷出对子就是三老",
    )
    dealer_loss: str = knob(
        "double",
        choices=("double", "lao"),
        about="what multiplies a losing dealer's share of a self-draw: 2, or 2, 4, 8 by Lao",
        chinese="别人自摸时庄家付几倍：2 倍，还是按老庄 2、4、8 倍：2 倍 / 按老庄",
    )
    discard_payment: str = knob(
        "own_share",
        choices=("own_share", "all_shares"),
        about="what a discarder pays: their own share, or all three",
        chinese="点炮的人付多少：自己的一份，还是三家的：一份 / 三家",
    )
    kong_capture: str = knob(
        "gated",
        choices=("gated", "always"),
        about="when the tile added to a pung can be won: under the conditions for discards, or always",
        chinese="什么时候能抢杠：条件与点炮相同，还是总能：有条件 / 总能",
    )
    match_end: str = knob(
        "hands",
        choices=("hands", "points"),
        about="when a match ends: after num_hands, or when somebody has no points left after a hand that the dealer "
        "did not win",
        chinese="一场什么时候结束：打完约定的局数，还是有人输光（庄家刚胡时除外）：按局数 / 有人输光",
    )

    @property
    def sigma(self) -> float:
        """See `Rules.sigma`; measured in proportion to the base score, which multiplies everything."""
        return 5.04 * self.base_score

    @property
    def turns_indicator(self) -> bool:
        """Whether a tile is turned up to name the fortunes."""
        return self.fortune == "indicator"

    @property
    def fixed_wild(self) -> int | None:
        """The White Dragon if the four White Dragons are the fortunes, otherwise None."""
        return WHITE if self.fortune == "white" else None

    @property
    def reserve(self) -> int:
        """The tiles that are never drawn: the last 20, without the tile turned up (hangzhou.md#the-wall)."""
        return 20 - self.turns_indicator

    def begin_hand(self, state: State, games: Games, keys: UInt64Array) -> None:
        """Seat the winds; with `lao_dice`, throw dice: ``state.dice`` is the sum of doubles, and 0 for other throws."""
        super().begin_hand(state, games, keys)
        if self.lao_dice:
            one, other = (1 + draw_numbers(keys, _LAO_DICE + die, 6) for die in range(2))
            state.dice[games] = np.where(one == other, one + other, 0)

    def deal_words(self, streak: int, dice: int) -> tuple[str, str]:
        """Return the number of Lao, which `lao_dice` may have made 3."""
        lao = int(_lao(streak, dice))
        return f"{lao} Lao", f"{lao} 老"

    @only_with_marks
    def limit_claims(self, state: State, seats: Seats, options: Int8Array) -> None:
        """Forbid everybody to claim or to capture a kong while a gambit lasts; the other players only draw."""
        options[:, state.marks[seats.game, :, _GAMBITS].any(axis=1)] = 0

    @only_with_marks
    def limit_turn(self, state: State, seats: Seats) -> None:
        """Allow in a gambit only a win, a concealed kong, and discarding the tile just drawn."""
        g = seats.game[seats.of(state.marks)[:, _GAMBITS] > 0]
        if g.size:
            state.mask[g, :CONCEALED_KONG] = False
            state.mask[g, state.drawn[g]] = True
            state.mask[g, ADDED_KONG:CHOW_LOW] = False

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """Keep a dealer who wins, and any dealer after a drawn hand; else the winner deals (hangzhou.md#the-dealer)."""
        dealer = state.dealer[games]
        stays = (winner == dealer) | (winner < 0)
        self.pass_deal(state, games, stays)
        state.dealer[games] = np.where(stays, dealer, winner)

    def match_over(self, state: State, games: Games, winner: Int8Array) -> BoolArray | None:
        """End matches by points if somebody has none and the dealer did not win (hangzhou.md#the-end-of-a-match)."""
        if self.ends_by_hands:
            return None
        return (winner != state.dealer[games]) & (state.points[games] <= 0).any(axis=1)

    @property
    def ends_by_hands(self) -> bool:
        """Whether a match ends after `num_hands` hands."""
        return self.match_end == "hands"


def _lao(streak: Any, dice: Any) -> Any:
    """Return the hands that the dealer has dealt in a row, with 3 for any more and for doubles: numbers or arrays."""
    return np.where(np.greater(dice, 0), 3, np.minimum(streak + 1, 3))


def _wants_the_dealer(wins: Wins) -> BoolArray:
    """Return [n] wins with another player's tile for which it matters who deals, and for how long."""
    if wins.rules.kong_capture == "always":
        return wins.on_discard
    return ~wins.drawn


def _is_explosive(reading: Readings) -> Any:
    """Return [m] whether all but one fortune was complete before the winning draw: four sets, or six pairs."""
    wins = reading.wins
    if not wins.wilds.any():
        return False
    summaries, total, other_wilds = wins.once(_before_the_draw)
    four_sets, six_pairs = short_of_sets(summaries, total) <= other_wilds, pairs(summaries, total) + other_wilds >= 6
    complete = np.where(reading.in_shape(SEVEN_PAIRS), reading.of(six_pairs), reading.of(four_sets))
    return complete & reading.of((other_wilds >= 0) & wins.drawn)


def _before_the_draw(wins: Wins) -> tuple[UInt32Array, UInt32Array, Int8Array]:
    """Return the hands without the winning tile: [n, 4] summaries, [n] their sum, and [n] fortunes but one."""
    came = wins.winning_tile
    is_natural = came != wins.wild
    codes = wins.codes.copy()
    codes[np.arange(len(wins)), SUIT[came]] -= POWER[came] * is_natural
    summaries = suit_summaries(codes)
    return summaries, sum_summaries(summaries), wins.wilds - ~is_natural - 1


def _dealers_factors(wins: Wins) -> Any:
    """Return [n, S] what multiplies the share of each seat, by who deals and for how long."""
    lao_factor = 2 ** _lao(wins.streak, wins.dice)
    dealers_loss = np.where(wins.drawn, lao_factor if wins.rules.dealer_loss == "lao" else 2, 1)
    factors = np.where(only(wins, wins.dealer), dealers_loss[:, None], 1)
    return np.where(wins.by_dealer[:, None], lao_factor[:, None], factors)


def _with_penalty(wins: Wins, owed: Int64Array) -> Int64Array:
    """Return [n, S] what is owed with hangzhou.md#three-meld-penalty: such seats pay twice what all would pay."""
    penalised = _pays_penalty(wins)
    if not penalised.any():
        return owed
    return np.where(penalised.any(axis=1, keepdims=True), penalised * (2 * owed.sum(axis=1, keepdims=True)), owed)


def _with_floor(wins: Wins, owed: Int64Array) -> Int64Array:
    """Return [n, S] what is owed with hangzhou.md#nobody-pays-more-than-he-has."""
    if not (wins.rules.points_floor and wins.floor.any()):
        return owed
    return np.where(wins.floor[:, None], np.minimum(owed, np.maximum(wins.points, 0)), owed)


def _pays_penalty(wins: Wins) -> BoolArray:
    """Return [n, S] the seats from which the winner claimed three melds, or that claimed three from the winner."""
    if wins.num_melds.max(initial=0) < _MELDS_FOR_PENALTY:
        return np.zeros(wins.num_melds.shape, np.bool_)
    winner = wins.seat[:, None, None]
    from_seat = wins.own_from[:, :, None] == np.arange(wins.num_melds.shape[1])
    fed = from_seat.sum(axis=1) >= _MELDS_FOR_PENALTY
    took = (wins.meld_from == winner).sum(axis=2) >= _MELDS_FOR_PENALTY
    return (fed | took) & everyone(wins)


RULES: Final = Hangzhou()
