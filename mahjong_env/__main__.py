"""``python -m mahjong_env rules | score | show | play | bench``."""

import sys

from mahjong_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
