"""Distances of hands from each shape, by code or by count, from the package's cheapest hands."""

import numpy as np

from mahjong_env import rules
from mahjong_env.hands.distance import cheapest_hands
from mahjong_env.hands.kind_sets import count_planes
from mahjong_env.hands.shanten import distance_to_orphans, distance_to_pairs


def any_shape(variant):
    """Return the knobs with which every complete hand may win."""
    return {} if rules(variant).aims is None else {"minimum_points": 0}


def distance_to_sets_and_pair(codes, sets, wilds=0):
    """Return [...] the tiles missing for codes [..., 4]."""
    shape = codes.shape[:-1]
    wanted = np.broadcast_to(np.asarray(sets, np.intp), shape).reshape(-1)
    short = cheapest_hands(codes.reshape(-1, 4).T.astype(np.intp), wanted).short.reshape(shape)
    return np.maximum(short - np.asarray(wilds, np.int8), np.int8(0))


def distance_to_seven_pairs(counts, wilds=0):
    """Return [...] the tiles missing for counts [..., 34], where four alike are two pairs."""
    shape = counts.shape[:-1]
    held = np.broadcast_to(np.asarray(wilds, np.int8), shape).reshape(-1)
    return distance_to_pairs(count_planes(counts.reshape(-1, 34)), held).reshape(shape)


def distance_to_thirteen_orphans(counts):
    """Return [...] the tiles missing for counts [..., 34]."""
    return distance_to_orphans(count_planes(counts.reshape(-1, 34))).reshape(counts.shape[:-1])
