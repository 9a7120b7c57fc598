"""The shipped variants: every module here is one, except those whose names begin with an underscore.

A module has the name of its variant and defines its rules, ``RULES``, as differences from
`mahjong_env.ruleset.questions.Rules`. `mahjong_env.ruleset.registry` finds the modules by their names and imports each
when its rules are first asked for.
"""
