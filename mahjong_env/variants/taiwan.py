"""Taiwanese 16-tile mahjong (台灣十六張麻將 Táiwān shíliù zhāng májiàng).

Its rules, written for players, are the page `taiwan.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from mahjong_env.basics.chance import draw_numbers
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, FIRST_HONOUR, FLOWERS, NO_TILE, NORTH, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array, UInt64Array
from mahjong_env.ruleset.questions import Circumstance, knob, only_with_marks
from mahjong_env.scoring.arithmetic import Share
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.patterns import count_melds, is_closed, suits_of, waits_for_one
from mahjong_env.scoring.payments import Payer, Payment, only
from mahjong_env.scoring.readings import SETS_AND_PAIR, Readings, Shape
from mahjong_env.scoring.rows import ByKnob, Restriction, Row, names
from mahjong_env.scoring.wins import Scores, Source, Wins, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, State
from mahjong_env.state.seats import Seats

_EIGHT_FLOWERS_MARK: Final = 0
"""The index of the only mark of a seat: 1 in the turn in which it has exposed its eighth flower."""
_MOST_DEAD_TILES: Final = 71
"""The tiles of the wall of 144 after the deal of 65 and eight replacements."""

EIGHT_FLOWERS = Shape("eight flowers", short_of=lambda tiles: np.full(tiles.total.shape, 99, np.int8))

# fmt: off
SITUATION = (
    Row("Waiting for One", "獨聽 dú tīng", 1, "only one kind could complete the hand; by draw or discard",
        per_hand=waits_for_one),
    Row("Exposed Gang", "明槓 míng gàng", 1, "each gang with a claimed tile, including one made from a pung",
        per_hand=lambda win: count_melds(win, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG)),
    Row("Hidden Gang", "暗槓 àn gàng", 2, "each gang of four of the player's own tiles",
        per_hand=lambda win: count_melds(win, MeldType.CONCEALED_KONG)),
    Row("No Characters", "無字 wú zì", 1, "no winds, no dragons",
        per_hand=lambda win: ~win.tiles[:, FIRST_HONOUR:].any(axis=1)),
    Row("No Flowers", "無花 wú huā", 1, "no flower and no season exposed",
        per_hand=lambda win: ~win.flowers.any(axis=1)),
    Row("Pure Hand", "門清 mén qīng", 1,
        "nothing claimed, won with another player's tile; hidden gangs are allowed (elsewhere called Closed Hand)",
        per_hand=lambda win: is_closed(win) & ~win.drawn),
    Row("Self-Touch", "自摸 zì mō", 1, "self-drawn",
        per_hand=lambda win: win.drawn),
    Row("Pure Self-Touch", "門清自摸 mén qīng zì mō", 3,
        "self-drawn with nothing claimed; in place of Pure Hand and Self-Touch",
        per_hand=lambda win: is_closed(win) & win.drawn, replaces=("Self-Touch",)),
    Row("Gang Blossom", "槓上開花 gàng shàng kāi huā", 1, "self-drawn as the replacement of a gang or a flower",
        per_hand=lambda win: win.drawn & ((win.kong_draws > 0) | win.flower_draw)),
    Row("Last Tile", "海底撈月 hǎi dǐ lāo yuè", 1, "self-drawn as the last tile that can be drawn",
        per_hand=lambda win: win.drawn & win.last_tile),
    Row("Robbing the Gang", "搶槓 qiǎng gàng", 1, "won with the tile that another player adds to their pung",
        per_hand=lambda win: win.robbed_kong),
)
HONOURS_AND_FLOWERS = (
    Row("Dragon", "三元牌 sān yuán pái", 1, "each triple or gang of dragons",
        per_hand=lambda win: win.once(_honours).dragon_triples),
    Row("House Wind", "門風 mén fēng", 1, "a triple or gang of the player's own wind",
        per_hand=lambda win: win.once(_honours).winds[np.arange(len(win)), win.house_wind] >= 3),
    Row("Round Wind", "圈風 quān fēng", 1, "a triple or gang of the round's wind",
        per_hand=lambda win: win.once(_honours).winds[np.arange(len(win)), win.round_wind] >= 3),
    # F1 and S1 are East's, 2 South's, 3 West's, 4 North's (taiwan.md#own-flower).
    Row("Own Flower", "正花 zhèng huā", 1, "each flower or season with the number of the player's own wind",
        per_hand=lambda win: _exposed(win)[np.arange(len(win)), :, win.house_wind].sum(axis=1)),
    Row("Four Flowers", "梅蘭菊竹 méi lán jú zhú", 2, "the flowers F1 to F4",
        per_hand=lambda win: _exposed(win)[:, 0].all(axis=1)),
    Row("Four Seasons", "春夏秋冬 chūn xià qiū dōng", 2, "the seasons S1 to S4",
        per_hand=lambda win: _exposed(win)[:, 1].all(axis=1)),
)
HANDS = (
    Row("Peaceful Win", "平胡 píng hú", 2, "runs and a suit pair, not self-drawn, not Waiting for One",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: (
            reading.all_runs & (reading.pair < FIRST_HONOUR) & reading.of(_may_be_peaceful(reading.wins)))),
    Row("Full Beggar's Hand", "全求人 quán qiú rén", 2, "all five sets claimed, won on a discard",
        per_hand=lambda win: (
            (win.own_melds == 5) & (count_melds(win, MeldType.CONCEALED_KONG) == 0) & win.on_discard)),
    Row("Three Hidden Triples", "三暗刻 sān àn kè", 2, "three triples or gangs without another player's tile",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.concealed_pungs == 3),
    Row("Four Hidden Triples", "四暗刻 sì àn kè", 5, "four of them",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.concealed_pungs == 4),
    Row("Five Hidden Triples", "五暗刻 wǔ àn kè", 8, "five of them",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.concealed_pungs == 5),
    Row("All Pungs", "碰碰胡 pèng pèng hú", 4, "every set is a triple or gang",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.all_pungs),
    Row("Mixed One Suit", "混一色 hùn yī sè", 4, "one suit and honours",
        per_hand=lambda win: suits_of(win).mixed),
    Row("Pure One Suit", "清一色 qīng yī sè", 8, "one suit only",
        per_hand=lambda win: suits_of(win).pure),
    Row("Little Three Dragons", "小三元 xiǎo sān yuán", 4, "two triples and a pair of dragons; no Dragon rows",
        per_hand=lambda win: win.once(_honours).little_dragons, replaces=("Dragon",)),
    Row("Big Three Dragons", "大三元 dà sān yuán", 8, "three triples of dragons; no Dragon rows",
        per_hand=lambda win: win.once(_honours).dragon_triples == 3, replaces=("Dragon",)),
    Row("Little Four Winds", "小四喜 xiǎo sì xǐ", 8, "three triples and a pair of winds; no House or Round Wind",
        per_hand=lambda win: win.once(_honours).little_winds, replaces=("House Wind", "Round Wind")),
    Row("Big Four Winds", "大四喜 dà sì xǐ", 16, "four triples of winds; no House or Round Wind",
        per_hand=lambda win: win.once(_honours).wind_triples == 4, replaces=("House Wind", "Round Wind")),
    Row("All Honors", "字一色 zì yī sè", 8, "winds and dragons only",
        per_hand=lambda win: suits_of(win).honours),
)
FIRST_DRAW = (
    Row("Heaven", "天胡 tiān hú", 24, "the dealer wins on the first draw, with no gang before",
        per_hand=lambda win: win.first_draw & win.by_dealer,
        replaces=("Waiting for One", "Pure Hand", "Self-Touch", "Pure Self-Touch")),
    Row("Earth", "地胡 dì hú", 16,
        "another player wins on their first draw, with no claim and no gang by anyone before",
        per_hand=lambda win: win.first_draw & ~win.by_dealer,
        replaces=("Waiting for One", "Pure Hand", "Self-Touch", "Pure Self-Touch")),
)
ALONE = Row("Eight Flowers", "八仙過海 bā xiān guò hǎi", 8,
            "all flowers and seasons exposed; any hand; scored alone", shape=EIGHT_FLOWERS,
            replaces=names(*SITUATION, *HONOURS_AND_FLOWERS, *HANDS, *FIRST_DRAW))
# fmt: on
ROWS = (*SITUATION, *HONOURS_AND_FLOWERS, *HANDS, ALONE, *FIRST_DRAW)


@dataclass(frozen=True, kw_only=True)
class Taiwan(ScoredRules):
    """The rules of Taiwanese 16-tile mahjong; the fields are its knobs."""

    name: ClassVar[str] = "taiwan"
    title: ClassVar[str] = "Taiwanese 16-tile"
    chinese: ClassVar[str] = "台灣十六張麻將"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    restrictions: ClassVar[tuple[Restriction, ...]] = (
        Restriction(
            "a win by flowers needs all eight flowers and seasons exposed",
            per_hand=lambda win: (win.source == int(Source.FLOWERS)) & ~_has_all_flowers(win.flowers),
        ),
    )
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY, discard=Payer.GIVER_PAYS, robbed_kong=Payer.GIVER_PAYS, flowers=Payer.ALL_PAY
    )
    share: ClassVar[Share] = Share(base=ByKnob("base_score"), unit=ByKnob("unit"), more=lambda wins: _dealers_tai(wins))
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance(
            "eight_flowers",
            "1 in the turn in which the winner has exposed the eighth flower",
            words=("eight flowers just now", "八仙過海"),
            # Eight Flowers that were not declared in their turn are lost (taiwan.md#eight-flowers).
            after_discard=lambda has, kind, wild: 0,
        ),
    )
    wins_by_flowers: ClassVar[bool] = True
    hand_size: ClassVar[int] = 16
    uses_flowers: ClassVar[bool] = True
    dealer_draws_last: ClassVar[bool] = True
    opening_stages: ClassVar[int] = 1

    base_score: int = knob(3, minimum=0, about="what a payer pays in addition to the tai", chinese="台數之外所付的底")
    unit: int = knob(1, minimum=1, about="points for one tai", chinese="一台多少分")
    dealer_bonus: bool = knob(
        True,
        about="1 + 2N tai more between the dealer and each player whom the dealer pays or is paid by",
        chinese="莊家與付他、他付的每家之間另加 1 + 2N 台",
    )
    add_discard_to_pung: bool = knob(
        True, about="whether a discard may be added to an exposed pung", chinese="別人打出的牌能不能加到明刻上成槓"
    )
    dead_tiles: int = knob(
        16,
        maximum=_MOST_DEAD_TILES,
        about="tiles at the end of the wall that are never drawn",
        chinese="牌牆末尾不摸的張數",
    )
    dealer_is_east: bool = knob(
        False,
        about="the dealer is East House, instead of the player whom three dice name",
        chinese="莊家就是東家，不由三個骰子決定",
    )
    strict_peaceful: bool = knob(False, about="Peaceful Win needs a hand without flowers", chinese="平胡不能有花")

    @property
    def sigma(self) -> float:
        """See `Rules.sigma`; measured as a part that grows with the base score and a part that grows with the unit."""
        return 1.03 * self.base_score + 5.17 * self.unit

    @property
    def reserve(self) -> int:
        """The number of dead tiles, whose boundary replacements move (taiwan.md#the-dead-tiles)."""
        return self.dead_tiles

    @property
    def adds_discards(self) -> bool:
        """Whether a discard may be added to an exposed pung, jia gang (taiwan.md#adding-a-discard-to-a-pung)."""
        return self.add_discard_to_pung

    def begin_hand(self, state: State, games: Games, keys: UInt64Array) -> None:
        """Throw three dice which, counted counter-clockwise from the dealer as one, name the East House.

        See taiwan.md#house-winds.
        """
        if self.dealer_is_east:
            super().begin_hand(state, games, keys)
            return
        state.dice[games] = sum(draw_numbers(keys, 200 + die, 6) + 1 for die in range(3))
        east = state.dealer[games] + state.dice[games] - 1
        state.house_wind[games] = (np.arange(self.seats, dtype=np.int8) - east[:, None]) % self.seats

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """Keep the dealer after a win of the dealer or a drawn hand; a round ends when all have lost the deal.

        See taiwan.md#the-dealer and taiwan.md#the-round-wind.
        """
        self.pass_deal(state, games, (winner == state.dealer[games]) | (winner < 0))
        state.round_wind[games] = state.turnover[games] // self.seats % 4

    def on_flower(self, state: State, seats: Seats) -> None:
        """Mark the eighth flower of a seat in its turn; `opening_options` asks about the opening."""
        eighth = _has_all_flowers(seats.of(state.flowers)) & state.flower_draw[seats.game]
        state.marks[seats.game[eighth], seats.seat[eighth], _EIGHT_FLOWERS_MARK] = 1

    @only_with_marks
    def may_win_at_once(self, state: State, seats: Seats) -> BoolArray:
        """Let a seat that has exposed its eighth flower in this turn win with any hand (taiwan.md#eight-flowers)."""
        return seats.of(state.marks)[:, _EIGHT_FLOWERS_MARK] > 0

    def opening_options(self, state: State, games: Games, stage: int) -> tuple[BoolArray, Int8Array]:
        """Let a seat win that has exposed all eight flowers in the opening; the dealer would be asked first.

        If the dealer's seventeenth tile was a flower, the eighth flower is a matter of the dealer's turn.
        """
        may_win = _has_all_flowers(state.flowers[games]) & ~state.flower_draw[games, None]
        return may_win, (state.dealer[games] - 1) % self.seats

    def take_opening(self, state: State, seats: Seats, stage: Int8Array) -> Wins:
        """Describe Eight Flowers in the opening, for which no tile is moved."""
        no_tile = np.full(len(seats), NO_TILE, np.int8)
        wins = wins_from_state(self, state, seats, no_tile, Source.DRAW, NO_SEAT)
        wins.source[:] = Source.FLOWERS
        return wins

    def readings_without_tiles(self, wins: Wins, which: Games) -> Readings:
        """Return readings as Eight Flowers, besides whatever the hands may be worth (taiwan.md#eight-flowers)."""
        exposed_in_turn = _has_all_flowers(wins.flowers) & (wins.own_marks[:, _EIGHT_FLOWERS_MARK] > 0)
        by_flowers = (wins.source == int(Source.FLOWERS)) | exposed_in_turn
        return Readings(wins, EIGHT_FLOWERS, which.compress(by_flowers.take(which)))

    def score(self, wins: Wins) -> Scores:
        """Score as the rows say; a hand that is worth less than Eight Flowers is a win by flowers."""
        scores = super().score(wins)
        by_flowers = scores.row_count[:, ROWS.index(ALONE)] > 0
        scores.source = np.where(by_flowers, np.int8(Source.FLOWERS), wins.source)
        return scores


# --- What the rows ask ----------------------------------------------------------------------------------------


def _has_all_flowers(flowers: Int8Array) -> BoolArray:
    """Return [...] whether all eight flowers and seasons are exposed; ``flowers`` [..., 42]."""
    return np.asarray(flowers.sum(axis=-1) == 8)


def _dealers_tai(wins: Wins) -> Int64Array:
    """Return [n, S] the dealer's tai for each seat, where the dealer pays or is paid (taiwan.md#the-dealers-tai)."""
    concerns_dealer = wins.by_dealer[:, None] | only(wins, wins.dealer)
    tai = (1 + 2 * wins.streak.astype(np.int64)) * wins.rules.dealer_bonus
    return tai[:, None] * concerns_dealer


def _exposed(wins: Wins) -> Int8Array:
    """Return [n, 2, 4] the flowers and seasons laid open, by their numbers."""
    return wins.flowers[:, FLOWERS:].reshape(-1, 2, 4)


class _Honours(NamedTuple):
    winds: Int8Array  # [n, 4] tiles of each wind, kongs counted as three
    wind_triples: Int8Array  # [n]
    dragon_triples: Int8Array  # [n]
    little_winds: BoolArray  # [n] three triples and a pair
    little_dragons: BoolArray  # [n] two triples and a pair


def _honours(wins: Wins) -> _Honours:
    winds, dragons = wins.tiles[:, EAST : NORTH + 1], wins.tiles[:, WHITE : RED + 1]
    wind_triples, dragon_triples = ((tiles >= 3).sum(axis=1, dtype=np.int8) for tiles in (winds, dragons))
    return _Honours(
        winds,
        wind_triples,
        dragon_triples,
        little_winds=(wind_triples == 3) & (winds == 2).any(axis=1),
        little_dragons=(dragon_triples == 2) & (dragons == 2).any(axis=1),
    )


def _may_be_peaceful(wins: Wins) -> BoolArray:
    """Return [n] whether the conditions of Peaceful Win that do not concern the sets are met."""
    may_be = ~wins.drawn & ~wins.once(waits_for_one)
    return may_be & ~wins.flowers.any(axis=1) if wins.rules.strict_peaceful else may_be


RULES = Taiwan()
