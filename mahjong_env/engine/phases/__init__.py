"""The phases of a step, one file for each; `mahjong_env.engine.step` calls them in order.

    deal     a hand begins: shuffled wall, hands, opening flowers, the indicator, questions before the first turn
    draw     a turn begins: a tile from the front of the wall, or a replacement from its back; drawn flowers are laid
             open; kongs are paid
    turn     the seat in turn, which has drawn or claimed a tile, acts: discard, concealed kong, added kong or win
    claims   other seats are offered a tile and answer (who may claim: `mahjong_env.engine.claim_rules`)
    grants   the best claim is carried out
    settle   wins and drawn hands become points; the next hand or the end of the match is prepared
    masks    the legal actions of the seat to act
    judge    tests of hands: one tile away, complete, allowed to win in their own turn

A phase is a function of a `StepContext` and of seats or games. It puts what it leaves to a later phase into one of the
context's lists.
"""
