"""An agent of mahjong_env as a bot of Botzone's Chinese Standard Mahjong; docs/botzone.md says what runs where.

python botzone_bot.py                      answers the judge on standard input, as an uploaded program does
python botzone_bot.py value --at URL       plays from here; the URL is that of "Local AI" on your account page
python botzone_bot.py --once               answers once and ends, instead of asking to be kept running
"""

import argparse
import json
import sys
import tempfile
import urllib.request
import zipfile

if zipfile.is_zipfile(sys.path[0]):  # uploaded as a zip; the tables of the package have to be files
    unpacked = tempfile.TemporaryDirectory()
    zipfile.ZipFile(sys.path[0]).extractall(unpacked.name)
    sys.path.insert(0, unpacked.name)

from mahjong_agents.botzone_player import BotzonePlayer


class Match:
    """Everything that was said in one game."""

    def __init__(self, player):
        self.player, self.requests, self.responses = player, [], []

    def hear(self, request):
        """Answer a request, given as text or as a JSON string."""
        self.requests.append(json.loads(request) if request.startswith('"') else request)
        self.responses.append(self.player.answer(self.requests, self.responses))
        return self.responses[-1]


def on_standard_input(player, once):
    """Answer the judge. The first line is what was said so far, in JSON; each later line is a request."""
    match, told = Match(player), json.loads(sys.stdin.readline())
    match.requests, match.responses = told["requests"][:-1], told["responses"]
    request = told["requests"][-1]
    while True:
        print(json.dumps({"response": match.hear(request)}), flush=True)
        if once:
            return
        print(">>>BOTZONE_REQUEST_KEEP_RUNNING<<<", flush=True)
        request = sys.stdin.readline().strip()
        if not request:
            return


def at_a_distance(player, url):
    """Ask Botzone for requests, and send the answers along with the next question."""
    matches, answers = {}, {}
    while True:
        headers = {f"X-Match-{name}": answer for name, answer in answers.items()}
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as reply:
            lines = reply.read().decode().splitlines()
        asked, ended = map(int, lines[0].split())
        pairs = zip(lines[1 : 2 * asked : 2], lines[2 : 2 * asked + 1 : 2], strict=True)
        answers = {name: matches.setdefault(name, Match(player)).hear(request) for name, request in pairs}
        for line in lines[2 * asked + 1 : 2 * asked + 1 + ended]:
            print(line, flush=True)
            matches.pop(line.split()[0], None)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("agent", nargs="?", default="greedy", help="any agent: greedy, value, policy:FILE")
    options.add_argument("--at", metavar="URL")
    options.add_argument("--once", action="store_true")
    chosen = options.parse_args()
    player = BotzonePlayer(chosen.agent)
    at_a_distance(player, chosen.at) if chosen.at else on_standard_input(player, chosen.once)
