"""Engines with one planted fault each, for the conformance kit to find (test_testing)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mahjong_env import NUM_ACTIONS, Engine, IllegalActionError, Snapshot
from mahjong_env.basics.actions import PASS, PUNG, WIN
from mahjong_env.observation.planes import plane
from mahjong_env.state.arrays import MELD_LIST, Phase


class UnbookedPoints(Engine):
    """What is paid is not told."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        return replace(result, rewards=np.zeros_like(result.rewards))


class LatePoints(Engine):
    """An outcome has the points from before the hand's last payment."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        outcome = result.outcome
        return replace(result, outcome=replace(outcome, points=outcome.points - outcome.payments))


class DrawnByAWinner(Engine):
    """Hands that were won are reported as drawn."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        return replace(result, outcome=replace(result.outcome, winner=np.full_like(result.outcome.winner, -1)))


class ForgetsWins(Engine):
    """Nobody is offered a win on a draw."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        self.state.mask[self.state.phase == Phase.TURN, WIN] = False
        return result


class ForgetsPungs(Engine):
    """Whoever may do something else with a discard is not offered a pung."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        several = (self.state.phase == Phase.CLAIM) & (self.state.mask.sum(axis=1) > 2)
        self.state.mask[several, PUNG] = False
        return result


class ForgetsADiscard(Engine):
    """The first tile of a hand may not be discarded."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        in_turn = np.flatnonzero((self.state.phase == Phase.TURN) & (self.state.mask[:, :34].sum(axis=1) > 1))
        self.state.mask[in_turn, self.state.mask[in_turn].argmax(axis=1)] = False
        return result


class ForgetsConcealedKongs(Engine):
    """Four tiles alike may not be declared."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        self.state.mask[:, 34:68] = False
        return result


class OneActionTooFew(Engine):
    """The mask hides an action where there are several."""

    @property
    def action_mask(self):
        mask = super().action_mask.copy()
        several = np.flatnonzero(mask.sum(axis=1) > 1)
        mask[several, mask[several].argmax(axis=1)] = False
        return mask


class OneActionTooMany(Engine):
    """The mask shows a pass in every turn."""

    @property
    def action_mask(self):
        mask = super().action_mask.copy()
        mask[self.state.phase == Phase.TURN, PASS] = True
        return mask


class RefusalCounts(Engine):
    """A refused action counts as a discard."""

    def step(self, actions, games=None):
        try:
            return super().step(actions, games)
        except IllegalActionError:
            self.state.num_discards += 1
            raise


class RefusesHalf(Engine):
    """Of a batch with an illegal action, the legal ones are played before it is refused."""

    def step(self, actions, games=None):
        try:
            return super().step(actions, games)
        except IllegalActionError:
            if games is None:
                legal = self.state.mask[np.arange(self.num_games), np.clip(actions, 0, NUM_ACTIONS - 1)]
                super().step(np.asarray(actions)[legal], np.flatnonzero(legal))
            raise


class IdlePung(Engine):
    """A pung is accepted, and nothing happens."""

    def step(self, actions, games=None):
        before = self.state.rows(np.arange(self.num_games))
        result = super().step(actions, games)
        numbers = np.arange(self.num_games) if games is None else np.asarray(games)
        idle = numbers[np.asarray(actions) == PUNG]
        for name, array in self.state.arrays().items():
            array[idle] = getattr(before, name)[idle]
        return result


class NeverDone(Engine):
    """Nobody is told that a match is over."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        return replace(result, done=np.zeros_like(result.done))


class OneHandMore(Engine):
    """A match has a hand more than was asked for."""

    def step(self, actions, games=None):
        self.num_hands += 1
        try:
            return super().step(actions, games)
        finally:
            self.num_hands -= 1


class OneDealForAll(Engine):
    """All games of a batch are dealt what the first one is."""

    def reset(self, seed=None, deals=None, games=None):
        super().reset(seed, deals, games)
        for array in self.state.arrays().values():
            array[:] = array[:1]


class SameHandAgain(Engine):
    """The next hands of a seed are its first ones."""

    def reset(self, seed=None, deals=None, games=None):
        self.first_seed = seed = getattr(self, "first_seed", seed) if seed is None else seed
        super().reset(seed, deals, games)


class ResetsAll(Engine):
    """Dealing some games anew deals all of them anew."""

    def reset(self, seed=None, deals=None, games=None):
        super().reset(seed, deals)


class SeesMore(Engine):
    """An engine that writes ``told`` into the first place of what everybody observes."""

    def told(self, games, seats):
        raise NotImplementedError

    def tell(self, seen, games, seats):
        numbers = np.arange(self.num_games) if games is None else np.asarray(games)
        seen[:, plane("facts").stop - 1, 33] = self.told(numbers, seats)
        return seen

    def observe(self, games=None, seats=None):
        return self.tell(super().observe(games, seats), games, seats)

    def view(self, games=None, seats=None):
        seen = super().view(games, seats)
        return replace(seen, observation=self.tell(seen.observation, games, seats))


class SeesTheWall(SeesMore):
    """The next tile of the wall shows."""

    def told(self, games, seats):
        return self.state.wall[games, self.state.front[games]]


class SeesHands(SeesMore):
    """The Red Dragons of all hands together show."""

    def told(self, games, seats):
        return self.state.hand[games, :, 33].sum(axis=1)


class SeesAnswers(SeesMore):
    """The best answer to a discard shows before it is granted."""

    def told(self, games, seats):
        return self.state.best_precedence[games]


class SeesWhoIsAsked(SeesMore):
    """Who is asked about a discard shows."""

    def told(self, games, seats):
        return self.state.actor[games]


class SeesPasses(SeesMore):
    """That somebody is being asked shows, but not who."""

    def told(self, games, seats):
        return self.state.phase[games]


class SeesDrawsAtOnce(SeesMore):
    """Draws of others show before they act."""

    def told(self, games, seats):
        return self.state.left(games)


class SeesTheDraw(SeesMore):
    """What another seat has drawn shows."""

    def told(self, games, seats):
        return self.state.drawn[games]


class SeesWaits(SeesMore):
    """How many seats are one tile away shows."""

    def told(self, games, seats):
        return self.state.is_tenpai[games].sum(axis=1)


class SeesHiddenKongs(SeesMore):
    """The kinds of concealed kongs show."""

    def told(self, games, seats):
        return np.where(self.state.meld_type[games] == 5, self.state.meld_kind[games], 0).sum(axis=(1, 2))


class ViewsMore(Engine):
    """The view, but not the observation, counts the tiles that are left in another way."""

    def view(self, games=None, seats=None):
        seen = super().view(games, seats)
        numbers = np.arange(self.num_games) if games is None else np.asarray(games)
        return replace(seen, unseen=seen.unseen + self.state.hand[numbers, 0])


class ObservesInShorts(Engine):
    """Observations are of another type than their space."""

    def observe(self, games=None, seats=None):
        return super().observe(games, seats).astype(np.int16)


class Observes(Engine):
    """An engine whose observations and views are changed in the same way."""

    def change(self, seen):
        raise NotImplementedError

    def observe(self, games=None, seats=None):
        return self.change(super().observe(games, seats))

    def view(self, games=None, seats=None):
        seen = super().view(games, seats)
        return replace(seen, observation=self.change(seen.observation.copy()))


class ObservesBesideItsView(Engine):
    """What is observed is not what the view shows."""

    def observe(self, games=None, seats=None):
        seen = super().observe(games, seats)
        seen[:, plane("drawn")] = 0
        return seen


class ObservesFiveTiles(Observes):
    """A hand seems to have more than four of a kind."""

    def change(self, seen):
        seen[:, plane("hand")] += 4
        return seen


class ObservesAnotherHand(Observes):
    """Each tile of the hand is shown as its neighbour."""

    def change(self, seen):
        seen[:, plane("hand")] = np.roll(seen[:, plane("hand")], 1, axis=2)
        return seen


class ObservesClutter(Observes):
    """Places that mean nothing are filled."""

    def change(self, seen):
        seen[:, plane("points"), 30] = 1
        return seen


class ObservesEveryOption(Observes):
    """All claims seem to be legal."""

    def change(self, seen):
        seen[:, plane("legal_actions").stop - 1, :7] = 1
        return seen


class ResamplesNothing(Engine):
    """What is hidden stays where it is."""

    def resample_hidden(self, seats, rng, games=None):
        """Change nothing."""


class ResamplesOthersKnowledge(Engine):
    """What the next person has not seen is redistributed."""

    def resample_hidden(self, seats, rng, games=None):
        super().resample_hidden((np.asarray(seats) + 1) % self.num_people, rng, games)


class ResamplesWithoutMasks(Engine):
    """The mask stays that of the hands before."""

    def resample_hidden(self, seats, rng, games=None):
        mask = self.state.mask.copy()
        super().resample_hidden(seats, rng, games)
        self.state.mask[:] = mask


class ResamplesIntoThinAir(Engine):
    """A tile of the wall becomes another one."""

    def resample_hidden(self, seats, rng, games=None):
        super().resample_hidden(seats, rng, games)
        front = self.state.front.clip(max=self.state.wall.shape[1] - 1)
        self.state.wall[np.arange(self.num_games), front] += 1


class ForgetsClaimers(Engine):
    """Who has claimed a discard is not noted."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        self.state.river_claimed[:] = 0
        return result


class NotesAnotherDiscard(Engine):
    """Melds point to the discard after the claimed one."""

    def step(self, actions, games=None):
        result = super().step(actions, games)
        listed = self.state.public[:, :, MELD_LIST, 4:30:6]
        listed[listed > 0] = 42
        return result


class RestoreForgets(Engine):
    """Discards are not put back."""

    def restore(self, snapshot):
        river = self.state.river.copy()
        super().restore(snapshot)
        self.state.river[:] = river


class SnapshotLives(Engine):
    """A snapshot goes on with the games that it was taken of."""

    def snapshot(self):
        return Snapshot(super().snapshot().header, self.state.arrays())


class SnapshotForgets(Engine):
    """A snapshot lacks the discards."""

    def snapshot(self):
        taken = super().snapshot()
        return Snapshot(taken.header, {name: array for name, array in taken.arrays.items() if name != "river"})


class CopyOfAnotherKind(Engine):
    """Copies are plain engines."""

    def select(self, games):
        twin = super().select(games)
        twin.__class__ = Engine
        return twin


class SortedCopies(Engine):
    """Copies come in the order of their games."""

    def select(self, games):
        return super().select(np.sort(games))


class SharedCopies(Engine):
    """Copies count their steps in the games that they were copied from."""

    origin = None

    def select(self, games):
        twin = super().select(games)
        twin.origin = self
        return twin

    def step(self, actions, games=None):
        if self.origin is not None:
            self.origin.state.turnover += 1
        return super().step(actions, games)


class ForgetsDraws(Engine):
    """A deal names draws in vain."""

    def reset(self, seed=None, deals=None, games=None):
        if deals is not None:
            deals = [replace(deal, draws="") for deal in deals]
        super().reset(seed, deals, games)


class RefusesDeals(Engine):
    """Deals with tiles left are refused."""

    def reset(self, seed=None, deals=None, games=None):
        if deals is not None:
            deals = [replace(deal, tiles_left=1000) for deal in deals]
        super().reset(seed, deals, games)
