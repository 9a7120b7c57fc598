"""Records of games: one line of JSON for each match, enough to replay the match to the last point."""

from mahjong_env.records.record import (
    FORMAT,
    FORMAT_VERSION,
    GameRecord,
    RecordWriter,
    count_records,
    nth_record,
    read_records,
)
from mahjong_env.records.recorder import Recorder, Replay, deal_again, replay_points

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "GameRecord",
    "RecordWriter",
    "Recorder",
    "Replay",
    "count_records",
    "deal_again",
    "nth_record",
    "read_records",
    "replay_points",
]
