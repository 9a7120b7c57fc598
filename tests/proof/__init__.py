"""The proof that engine and referee play the same game: very many hands, all knobs at random, steered deals.

    make proof                      20 000 hands of each variant, and 20 000 random wins
    make proof VARIANT=taiwan HANDS=40000 JOBS=4
    make proof REPLAY=hands:taiwan:1234   plays one batch again, for example the one in which a difference was found
    PYTHONPATH=tests .venv/bin/python -m proof --kinds ways    small batches against the phases (engine/one_game.py)

A *batch* is a number: kind, variant and number decide knobs, deals, how it is played, and all chance in it (`batches`).
`steer` makes recipes (`recipes/*.toml`) into deals in which rare things happen; a referee that watches itself counts
how often each row, refusal and rule of play is met (`watch`). `described` draws hands that have been won, and asks a
library from outside about those of MCR as well. ``--first`` goes on with the batches behind those of another run.
"""
