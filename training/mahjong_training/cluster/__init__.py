"""Work beyond one machine, on a Ray cluster: ``--ray local`` or ``--ray ADDRESS``; see docs/cluster.md.

`connected` makes the connection, `do_shards` does independent shards of work on it. Ray is asked for when it is needed
and not before: the extra `distributed` pins a gymnasium of its own and belongs in an environment of its own.
"""

from mahjong_training.cluster.session import LOCAL, connected
from mahjong_training.cluster.shards import do_shards

__all__ = ["LOCAL", "connected", "do_shards"]
