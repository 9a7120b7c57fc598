"""The phases of a step, one file each; `mahjong_env.engine.step` is their order.

    deal     a shuffled wall, hands, opening flowers, the indicator, questions before the first turn
    draw     a turn begins: a tile from the front of the wall, a replacement from its back, flowers laid open;
             what kongs pay at once
    turn     the seat that has drawn or claimed acts: discard, concealed kong, added kong, win
    claims   tiles are offered to the other seats, and seats answer (who may claim: `mahjong_env.engine.claim_rules`)
    grants   the best claim is carried out
    settle   wins and drawn hands become points; dealer and match go on
    masks    what the seat to act may do
    judge    what hands allow: one tile away, complete, a win in one's turn

A phase is a function of a `StepContext`, and of seats or games. What it leaves to a later phase it puts into one of the
lists of the context.
"""
