"""The proof that engine and referee play the same game: very many hands, all knobs at random, steered deals.

    make proof                      20 000 hands of each variant
    make proof VARIANT=taiwan HANDS=40000 JOBS=4
    make proof VARIANT=mcr WINS=1000000   and random wins, scored by the package, the referee and PyMahjongGB (`wins`)
    make proof REPLAY=taiwan:1234   plays one batch again, for example the one in which a difference was found
    PYTHONPATH=tests .venv/bin/python -m proof.both_ways      small batches against the phases (engine/one_game.py)

A *batch* is a number: variant and number decide knobs, deals, how it is played, and all chance in it (`batches`).
`steer` makes recipes (`recipes/*.toml`) into deals in which rare things happen; a referee that watches itself counts
how often each row, refusal and rule of play is met (`watch`). What batches have shown is kept in `.proof/`, so that a
second run continues the first.
"""
