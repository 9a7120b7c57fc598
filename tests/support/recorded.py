"""Records of matches that are played for tests."""

import numpy as np

import mahjong_env
from mahjong_env.records import Recorder

WIN = mahjong_env.action("win")


class Collector(Recorder):
    """A recorder that keeps its records in memory."""

    def __init__(self, engine, **settings):
        self.collected = []
        super().__init__(engine, lambda *records: self.collected.extend(records), **settings)


def recorded(variant, seed=3, agents=(), note=lambda legal, choice: None, **settings):
    """Return the record of a match with random choices and all wins declared; ``note`` makes a note of each choice."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed, **settings), np.random.default_rng(seed)
    recorder = Collector(engine, agents=agents)
    while engine.seat_to_act[0] >= 0:
        legal = np.flatnonzero(engine.action_mask[0])
        choice = int(WIN if WIN in legal else rng.choice(legal))
        recorder.step([choice], notes=[note(legal, choice)])
    return recorder.collected[0]
