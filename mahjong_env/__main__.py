"""``python -m mahjong_env bench | play | show | score``."""

import sys

from mahjong_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
