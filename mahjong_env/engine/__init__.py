"""The batched engine: games dealt, stepped, copied and restored, all at once.

In the order of a step: `batch` (what users hold), `step` (act, claim, draw, settle), `phases` (one file each),
`claim_rules` (who may claim and who is heard first, on plain arrays), `outcome` (what a step gives back). Beside it:
`arguments` (checks of what users hand in), `scene` (named deals), `snapshot`, `hidden` and `worlds` (what a seat has
not seen, drawn anew).
"""
