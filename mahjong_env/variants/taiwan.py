"""Taiwanese 16-tile mahjong (台灣十六張麻將 Táiwān shíliù zhāng májiàng).

Source: 003, "Playing the Hands" (allmj.com). It covers play only and breaks off where scoring begins; deal, winds, tai
and payment come from the same site's dealing, wall and scoring pages and, where those are cut off, from Taiwanese
tables that agree with each other (rulebook 4). Version 0: first release.

**What is played.** 144 tiles, four players, 16 tiles each. Flowers and seasons are laid open and replaced from the
end of the wall: first the dealer's, then those of the next players. Then the dealer draws his seventeenth tile. The
last 16 tiles are never drawn; each replacement moves that boundary. Chows from the previous player, pungs and gangs
(kongs) from anybody; a discard may also be added to an exposed pung. Three dice seat the winds for each hand: counted
counter-clockwise from the dealer as one, they reach the East House. A hand is five sets and a pair. Whoever has
exposed all eight flowers may win at once with any hand.

**Payment.** A payer pays base + tai x unit. When he or the winner is the dealer, the dealer's tai are added: 1 + 2N,
N being the hands for which the dealer has kept the deal. Self-draw and Eight Flowers: every other player pays; a
discard: the discarder alone; a robbed gang: the player who was adding the tile alone. Gangs pay nothing at once. The
value of a hand is its tai without the dealer's. The deal is kept after a win of the dealer and after a draw, and else
passes to the right; the round wind changes when all four have lost the deal.

**Readings and deviations**

====================================  ================================================================================
question                              here
====================================  ================================================================================
"take the discarded tile, and add it  allowed, as the action `kong` (`add_discard_to_pung=False`, as nearly everybody
to the already-exposed pung"          else plays). It cannot be robbed: the discard could simply have been won on
"dead" tiles, number missing          16 (`dead_tiles`), replenished by the boundary that moves
"scored as follows:" and nothing      the tai below, base 3 and unit 1 (`base_score`, `unit`, `dealer_bonus`)
East House                            thrown with three dice (`dealer_is_east=True`: the dealer)
who may be robbed, "exposed gang"     a tile that is added to a pung from the hand; no other gang
Peaceful Win with flowers             allowed (`strict_peaceful=True`: no flowers)
Waiting for One                       one kind completes the 16 tiles, whatever the shape; a kind of which the player
                                      holds all four does not count
Full Beggar's Hand                    on a discard only, no hidden gang; Waiting for One is added
triple completed by a discard         not hidden, unless the tile fits a run and leaves three others
Four Flowers and own flower           both; Four Flowers and Four Seasons too
All Honors                            8, with All Pungs and the wind and dragon rows
Heaven, Earth                         replace Self-Touch, Pure Self-Touch, Pure Hand and Waiting for One; replacing a
                                      flower does not spoil them
Eight Flowers                         asked in the opening or turn in which the eighth is exposed, and scored alone;
                                      if the hand is complete too, the higher of both counts, the hand if they tie.
                                      The dealer, asked in the opening, already holds his seventeenth tile
an eighth flower that cannot be       its owner is asked first, then the hand is a draw
replaced
"seven robs one"                      not played
====================================  ================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from mahjong_env.basics.chance import draw_numbers
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, FIRST_HONOUR, FLOWERS, NO_TILE, NORTH, NUM_KINDS, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array, UInt64Array
from mahjong_env.ruleset.questions import Rules, knob
from mahjong_env.scoring.patterns import (
    Forms,
    all_tiles,
    best_forms,
    count_melds,
    everyone,
    is_closed,
    only,
    paid_by,
    read,
    suit_rows,
    suits_present,
    waits_for_one,
)
from mahjong_env.scoring.rows import Row
from mahjong_env.scoring.wins import Scores, Source, Wins, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, State
from mahjong_env.state.seats import Seats

ROWS = (
    Row("Waiting for One", "獨聽 dú tīng", 1, "one kind alone could complete the hand; by draw or discard"),
    Row("Exposed Gang", "明槓 míng gàng", 1, "each gang with a claimed tile, also one made from a pung"),
    Row("Hidden Gang", "暗槓 àn gàng", 2, "each gang of four own tiles"),
    Row("No Characters", "無字 wú zì", 1, "no winds, no dragons"),
    Row("No Flowers", "無花 wú huā", 1, "no flower and no season exposed"),
    Row("Pure Hand", "門清 mén qīng", 1, "nothing claimed, won with another player's tile; hidden gangs are allowed"),
    Row("Self-Touch", "自摸 zì mō", 1, "self-drawn"),
    Row("Pure Self-Touch", "門清自摸 mén qīng zì mō", 3, "self-drawn with nothing claimed, instead of both"),
    Row("Gang Blossom", "槓上開花 gàng shàng kāi huā", 1, "self-drawn as the replacement of a gang or a flower"),
    Row("Last Tile", "海底撈月 hǎi dǐ lāo yuè", 1, "self-drawn as the last tile that can be drawn"),
    Row("Robbing the Gang", "搶槓 qiǎng gàng", 1, "won with the tile that another player adds to his pung"),
    Row("Dragon", "三元牌 sān yuán pái", 1, "each triple or gang of dragons"),
    Row("House Wind", "門風 mén fēng", 1, "a triple or gang of the own wind"),
    Row("Round Wind", "圈風 quān fēng", 1, "a triple or gang of the round's wind"),
    Row("Own Flower", "正花 zhèng huā", 1, "each flower or season with the number of the own wind"),
    Row("Four Flowers", "梅蘭菊竹 méi lán jú zhú", 2, "the flowers F1 to F4"),
    Row("Four Seasons", "春夏秋冬 chūn xià qiū dōng", 2, "the seasons S1 to S4"),
    Row("Peaceful Win", "平胡 píng hú", 2, "runs and a suit pair, not self-drawn, not Waiting for One"),
    Row("Full Beggar's Hand", "全求人 quán qiú rén", 2, "all five sets claimed, won on a discard"),
    Row("Three Hidden Triples", "三暗刻 sān àn kè", 2, "three triples or gangs without another player's tile"),
    Row("Four Hidden Triples", "四暗刻 sì àn kè", 5, "four of them"),
    Row("Five Hidden Triples", "五暗刻 wǔ àn kè", 8, "five of them"),
    Row("All Pungs", "碰碰胡 pèng pèng hú", 4, "every set is a triple or gang"),
    Row("Mixed One Suit", "混一色 hùn yī sè", 4, "one suit and honours"),
    Row("Pure One Suit", "清一色 qīng yī sè", 8, "one suit alone"),
    Row("Little Three Dragons", "小三元 xiǎo sān yuán", 4, "two triples and a pair of dragons; no Dragon rows"),
    Row("Big Three Dragons", "大三元 dà sān yuán", 8, "three triples of dragons; no Dragon rows"),
    Row("Little Four Winds", "小四喜 xiǎo sì xǐ", 8, "three triples and a pair of winds; no House or Round Wind"),
    Row("Big Four Winds", "大四喜 dà sì xǐ", 16, "four triples of winds; no House or Round Wind"),
    Row("All Honors", "字一色 zì yī sè", 8, "winds and dragons alone"),
    Row("Eight Flowers", "八仙過海 bā xiān guò hǎi", 8, "all flowers and seasons exposed; any hand; scored alone"),
    Row("Heaven", "天胡 tiān hú", 24, "the dealer wins on his first draw, no gang before"),
    Row("Earth", "地胡 dì hú", 16, "another player wins on his first draw, no claim and no gang by anyone before"),
)
_PLACE: Final = {row.name: place for place, row in enumerate(ROWS)}
_VALUES: Final[Int32Array] = np.array([row.value for row in ROWS], np.int32)
_EIGHT_FLOWERS: Final = _VALUES[_PLACE["Eight Flowers"]]
_INCOMPLETE, _NO_EIGHT_FLOWERS = np.int8(1), np.int8(2)
_HONOUR_GROUP: Final = 3
_UP_TO_A_RUN: Final = np.arange(3, dtype=np.int8)[:, None]
_HIDDEN_TRIPLES: Final = {3: "Three Hidden Triples", 4: "Four Hidden Triples", 5: "Five Hidden Triples"}
_ALL_FLOWERS: Final = 8
_MOST_DEAD_TILES: Final = 71
"""What the wall of 144 holds after the deal of 65 and eight replacements."""


@dataclass(frozen=True, kw_only=True)
class Taiwan(Rules):
    """The rules of Taiwanese 16-tile mahjong; the fields are its knobs."""

    name: ClassVar[str] = "taiwan"
    title: ClassVar[str] = "Taiwanese 16-tile"
    chinese: ClassVar[str] = "台灣十六張麻將"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    reasons: ClassVar[tuple[str, ...]] = (
        "",
        "the tiles are not a complete hand",
        "a win by flowers needs all eight flowers and seasons exposed",
    )
    marks: ClassVar[tuple[str, ...]] = ("eight_flowers",)
    """1 in the turn in which a seat has exposed its eighth flower."""
    score_arguments: ClassVar[frozenset[str]] = frozenset({"source='flowers'"})
    hand_size: ClassVar[int] = 16
    uses_flowers: ClassVar[bool] = True
    dealer_draws_last: ClassVar[bool] = True
    opening_stages: ClassVar[int] = 1

    base_score: int = knob(3, minimum=0, about="what a payer pays beside the tai")
    unit: int = knob(1, minimum=1, about="points for one tai")
    dealer_bonus: bool = knob(
        True, choices=(True, False), about="1 + 2N tai more between the dealer and whoever he pays or is paid by"
    )
    add_discard_to_pung: bool = knob(
        True, choices=(True, False), about="whether a discard may be added to an exposed pung"
    )
    dead_tiles: int = knob(
        16, minimum=0, maximum=_MOST_DEAD_TILES, about="tiles at the end of the wall that are never drawn"
    )
    dealer_is_east: bool = knob(
        False, choices=(False, True), about="the dealer is East House, instead of the player whom three dice name"
    )
    strict_peaceful: bool = knob(False, choices=(False, True), about="Peaceful Win needs a hand without flowers")

    @property
    def reserve(self) -> int:
        """The dead tiles; replacements move their boundary (rulebook 4A.10)."""
        return self.dead_tiles

    # --- Match and deal ---------------------------------------------------------------------------------------
    def begin_hand(self, state: State, games: Games, keys: UInt64Array) -> None:
        """Three dice, counted counter-clockwise from the dealer as one, name the East House (rulebook 4A.3)."""
        if self.dealer_is_east:
            super().begin_hand(state, games, keys)
            return
        state.dice[games] = sum(draw_numbers(keys, 200 + die, 6) + 1 for die in range(3))
        east = state.dealer[games] + state.dice[games] - 1
        state.house_wind[games] = (np.arange(self.seats, dtype=np.int8) - east[:, None]) % self.seats

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """The dealer stays if he wins and after a draw; the round ends when all have lost the deal (4A.11)."""
        self.pass_deal(state, games, (winner == state.dealer[games]) | (winner < 0))
        state.round_wind[games] = state.turnover[games] // self.seats % 4

    # --- Eight Flowers ----------------------------------------------------------------------------------------
    def on_flower(self, state: State, seats: Seats) -> None:
        """Mark the eighth flower of a seat in its turn; the opening is asked about by `opening_options`."""
        eighth = has_all_flowers(seats.of(state.flowers)) & state.flower_draw[seats.game]
        state.marks[seats.game[eighth], seats.seat[eighth], 0] = 1

    def on_discard(self, state: State, seats: Seats, kind: Int64Array) -> None:
        """Eight Flowers that were not said in their turn are gone (rulebook 6 Taiwan)."""
        state.marks[seats.game, seats.seat, 0] = 0

    def may_win_at_once(self, state: State, seats: Seats) -> BoolArray:
        """A seat that has exposed its eighth flower in this turn may win with any hand (rulebook 4A.15)."""
        return seats.of(state.marks)[:, 0] > 0

    def opening_options(self, state: State, games: Games, stage: int) -> tuple[BoolArray, Int8Array]:
        """A seat that has exposed all eight flowers in the opening; the dealer would be asked first.

        If the seventeenth tile of the dealer was a flower, the eighth is a matter of his turn.
        """
        may_win = has_all_flowers(state.flowers[games]) & ~state.flower_draw[games, None]
        return may_win, (state.dealer[games] - 1) % self.seats

    def take_opening(self, state: State, seats: Seats, stage: Int8Array) -> Wins:
        """Eight Flowers in the opening: no tile is moved."""
        no_tile = np.full(len(seats), NO_TILE, np.int8)
        wins = wins_from_state(state, seats, no_tile, Source.DRAW, NO_SEAT)
        wins.source[:] = Source.FLOWERS
        return wins

    # --- Claims -----------------------------------------------------------------------------------------------
    @property
    def adds_discards(self) -> bool:
        """Jia gang: a discard may be added to an exposed pung (003 §Adding to an Exposed Pùng)."""
        return self.add_discard_to_pung

    # --- Scoring ----------------------------------------------------------------------------------------------
    def score(self, wins: Wins) -> Scores:
        """The tai of the best reading of each hand, or of Eight Flowers if they are worth more (rulebook 4A.12-15)."""
        rows = np.zeros((len(wins), len(ROWS)), np.int8)
        by_flowers_alone = _by_flowers_alone(wins)
        complete = self.complete(wins) & ~by_flowers_alone
        hands = np.flatnonzero(complete)
        if hands.size == len(wins):
            rows = self._tai_of_hands(wins)
        elif hands.size:
            rows[hands] = self._tai_of_hands(wins.take(hands))
        tai = rows @ _VALUES

        eight = has_all_flowers(wins.flowers) & (by_flowers_alone | (wins.own_marks[:, 0] > 0))
        eight &= ~complete | (tai < _EIGHT_FLOWERS)
        rows[eight] = np.arange(len(ROWS)) == _PLACE["Eight Flowers"]
        tai = np.where(eight, _EIGHT_FLOWERS, tai)
        legal = complete | eight
        return Scores(
            legal=legal,
            reason=np.where(by_flowers_alone, _NO_EIGHT_FLOWERS, _INCOMPLETE) * ~legal,
            row_count=rows,
            row_value=_VALUES[None].repeat(len(wins), axis=0),
            points=tai.astype(np.int64),
            payments=self._payments(wins, tai) * legal[:, None],
            source=np.where(eight, np.int8(Source.FLOWERS), wins.source),
        )

    def legal(self, wins: Wins) -> BoolArray:
        """Every complete hand; and one that wins by flowers alone if it has all of them."""
        return ~_by_flowers_alone(wins) | has_all_flowers(wins.flowers)

    def _payments(self, wins: Wins, tai: Int32Array) -> Int32Array:
        """[n, S] base + tai x unit from each payer, with the dealer's tai where he pays or is paid (4A.13, 4A.14)."""
        dealer = wins.dealer[:, None]
        concerns_dealer = wins.by_dealer[:, None] | (np.arange(self.seats) == dealer)
        dealers_tai = (1 + 2 * wins.streak.astype(np.int32)) * self.dealer_bonus
        amounts = self.base_score + self.unit * (tai[:, None] + dealers_tai[:, None] * concerns_dealer)
        by_all = wins.drawn | _by_flowers_alone(wins)
        return paid_by(np.where(by_all[:, None], everyone(wins), only(wins, wins.from_seat)), amounts, wins.seat)

    def _tai_of_hands(self, wins: Wins) -> Int8Array:
        """[n, rows] entries of each row for complete hands, read in the way that is worth most."""
        common = self._common_rows(wins)
        forms = read(wins)
        rows = common.take(forms.owner, axis=0)
        peaceful = ~wins.drawn & (common[:, _PLACE["Waiting for One"]] == 0)
        if self.strict_peaceful:
            peaceful &= common[:, _PLACE["No Flowers"]] > 0
        rows[:, _PLACE["Peaceful Win"]] = peaceful[forms.owner] & forms.all_runs & (forms.pair < FIRST_HONOUR)
        rows[:, _PLACE["All Pungs"]] = forms.all_triplets
        hidden = _hidden_triples(wins, forms)
        for number, name in _HIDDEN_TRIPLES.items():
            rows[:, _PLACE[name]] = hidden == number
        return rows.take(best_forms(forms.owner, rows @ _VALUES, len(wins)), axis=0)

    def _common_rows(self, wins: Wins) -> Int8Array:
        """[n, rows] the entries that do not depend on how the tiles are read."""
        wins.rules = self
        tiles = all_tiles(wins)
        present = suits_present(tiles)
        suits = suit_rows(present)
        drawn, closed = wins.drawn, is_closed(wins)
        # Heaven and Earth replace Self-Touch, Pure Self-Touch, Pure Hand and Waiting for One (rulebook 6 Taiwan).
        usual = ~wins.first_draw
        hidden_gangs = count_melds(wins, MeldType.CONCEALED_KONG)
        entries = {
            "Waiting for One": usual & waits_for_one(wins),
            "Exposed Gang": count_melds(wins, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG),
            "Hidden Gang": hidden_gangs,
            "No Characters": ~present[:, _HONOUR_GROUP],
            "No Flowers": ~wins.flowers.any(axis=1),
            "Pure Hand": closed & ~drawn,
            "Self-Touch": drawn & ~closed & usual,
            "Pure Self-Touch": drawn & closed & usual,
            "Gang Blossom": drawn & ((wins.kong_draws > 0) | wins.flower_draw),
            "Last Tile": drawn & wins.last_tile,
            "Robbing the Gang": wins.robs_kong,
            "Full Beggar's Hand": (wins.own_melds == 5) & (hidden_gangs == 0) & wins.on_discard,
            "Mixed One Suit": suits.mixed,
            "Pure One Suit": suits.pure,
            "All Honors": suits.honours,
            "Heaven": wins.first_draw & wins.by_dealer,
            "Earth": wins.first_draw & ~wins.by_dealer,
        }
        entries |= _flower_rows(wins)
        if present[:, _HONOUR_GROUP].any():
            entries |= _honour_rows(wins, tiles)
        rows = np.zeros((len(wins), len(ROWS)), np.int8)
        for name, number in entries.items():
            rows[:, _PLACE[name]] = number
        return rows


def _by_flowers_alone(wins: Wins) -> BoolArray:
    """[n] wins without a tile."""
    return wins.source == int(Source.FLOWERS)


def has_all_flowers(flowers: Int8Array) -> BoolArray:
    """[...] whether all eight flowers and seasons are exposed; ``flowers`` [..., 42] int8."""
    return np.asarray(flowers.sum(axis=-1) == _ALL_FLOWERS)


def _flower_rows(wins: Wins) -> dict[str, Any]:
    """Rows of exposed flowers: F1 and S1 are East's, 2 South's, 3 West's, 4 North's (rulebook 6 Taiwan)."""
    exposed = wins.flowers[:, FLOWERS:].reshape(-1, 2, 4)
    own = exposed[np.arange(len(wins)), :, wins.house_wind].sum(axis=1)
    whole = np.logical_and.reduce(exposed, axis=2)
    return {"Own Flower": own, "Four Flowers": whole[:, 0], "Four Seasons": whole[:, 1]}


def _honour_rows(wins: Wins, tiles: Int8Array) -> dict[str, Any]:
    """Rows of winds and dragons; those of single triples give way to those of several (rulebook 6 Taiwan)."""
    winds, dragons = tiles[:, EAST : NORTH + 1], tiles[:, WHITE : RED + 1]
    wind_triples, dragon_triples = (winds >= 3).sum(axis=1), (dragons >= 3).sum(axis=1)
    little_winds = (wind_triples == 3) & (winds == 2).any(axis=1)
    little_dragons = (dragon_triples == 2) & (dragons == 2).any(axis=1)
    several_winds = little_winds | (wind_triples == 4)
    several_dragons = little_dragons | (dragon_triples == 3)
    hands = np.arange(len(wins))
    return {
        "Dragon": np.where(several_dragons, 0, dragon_triples),
        "House Wind": (winds[hands, wins.house_wind] >= 3) & ~several_winds,
        "Round Wind": (winds[hands, wins.round_wind] >= 3) & ~several_winds,
        "Little Three Dragons": little_dragons,
        "Big Three Dragons": dragon_triples == 3,
        "Little Four Winds": little_winds,
        "Big Four Winds": wind_triples == 4,
    }


def _hidden_triples(wins: Wins, forms: Forms) -> Int8Array:
    """[m] triples and gangs of each reading that no other player's tile has completed.

    A claimed winning tile that also fits a concealed run of the reading completes that run, and three others of its
    kind are hidden.
    """
    tile = wins.winning_tile.take(forms.owner)
    place = np.arange(len(forms)) * NUM_KINDS + tile
    exposed = ~wins.drawn.take(forms.owner) & (forms.hidden_triplets.reshape(-1).take(place) > 0)
    if exposed.any():
        runs = np.zeros((2 + NUM_KINDS, len(forms)), np.int8)  # runs that begin at kind k stand at k + 2
        runs[2:] = forms.hidden_runs.T
        exposed &= runs[tile + _UP_TO_A_RUN, np.arange(len(forms))].sum(axis=0) == 0
    gangs = count_melds(wins, MeldType.CONCEALED_KONG).take(forms.owner)
    return forms.hidden_triplets.sum(axis=1, dtype=np.int8) + gangs - exposed


RULES = Taiwan()
