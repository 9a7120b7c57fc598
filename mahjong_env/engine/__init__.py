"""The batched engine: it deals, steps, copies and restores many games at once.

Its modules in the order of a step: `batch` (the `Engine` that users hold), `step` (act, claim, draw, settle), `phases`
(one file for each), `claim_rules` (who may claim and who has priority, on plain arrays), `outcome` (the results of a
step). Beside them: `arguments` (checks of users' arguments), `scene` (how a hand begins), `snapshot`, `hidden` and
`worlds` (tiles that a seat has not seen, drawn anew).
"""
