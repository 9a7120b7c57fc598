"""The phases of a step, one file each.

    deal     a shuffled wall, hands, opening flowers, the indicator, questions before the first turn
    draw     a turn begins: a tile from the front of the wall, a replacement from its back, flowers laid open
    turn     the seat that has drawn or claimed: discard, concealed kong, added kong
    claims   who may want a discard or a robbed tile, who is asked, and the answers
    grants   the best claim is carried out
    kongs    kongs that stand: what they pay, and their replacement tile
    settle   wins and drawn hands become points; dealer and match go on
    masks    what the seat to act may do

A phase is a function of a `Table` and of the numbers of the games that are in it; what follows from it is put into
the table's queues, which the next phase takes out.
"""
