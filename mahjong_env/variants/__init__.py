"""The variants that are shipped: every module here is one, but for those whose names begin with an underscore.

A module bears its variant's name and defines ``RULES``, its difference from `mahjong_env.ruleset.questions.Rules`.
`mahjong_env.ruleset.registry` finds the modules by their names and imports each when its rules are first asked for.
"""
