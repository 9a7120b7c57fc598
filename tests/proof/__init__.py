"""The proof that engine and referee play the same game: very many hands, all knobs at random, steered deals.

    make proof                      20 000 hands of each variant
    make proof VARIANT=taiwan HANDS=40000 JOBS=4
    PYTHONPATH=tests .venv/bin/python -m proof.both_ways      small batches against the phases (engine/one_game.py)
    make proof REPLAY=taiwan:1234   plays one batch again, for example the one in which a difference was found

A *batch* is a number: variant and number decide knobs, deals, how it is played, and all chance in it (`batches`).
What batches have shown is kept in `.proof/` (`ledger`), so that a second run goes on where the first one stopped.
How often each row, refusal, payment rule, rule of play and knob value was met is counted by a referee that watches
itself (`watch`, `payments`); `recipes` describes the deals that make rare ones happen.
"""
