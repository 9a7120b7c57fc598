"""``python -m mahjong_env COMMAND``, the same as ``mahjong-env COMMAND``."""

import sys

from mahjong_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
