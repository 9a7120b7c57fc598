// A bot in JavaScript: it wins when it can, claims nothing else, and discards the tile that fits its hand least.
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

// How well a tile fits: pairs and triplets, then neighbours in its suit, then the middle of the suit.
function worth(tile, hand) {
  const count = (other) => hand.filter((each) => each === other).length;
  const [rank, suit] = [Number(tile[0]), tile[1]];
  const value = 12 * (count(tile) - 1);
  if (suit === "z") return value;
  const beside = count(rank - 1 + suit) + count(rank + 1 + suit);
  const apart = count(rank - 2 + suit) + count(rank + 2 + suit);
  return value + 6 * Math.min(beside, 2) + 3 * Math.min(apart, 2) + 1 + (rank > 1 && rank < 9 ? 1 : 0);
}

function choose({ legal, hand, wild }) {
  const discards = legal.filter((action) => action.startsWith("discard ")).map((action) => action.slice(8));
  if (legal.includes("win")) return "win";
  if (discards.length === 0) return "pass";
  const spare = discards.filter((tile) => tile !== wild);
  const worths = (spare.length ? spare : discards).map((tile) => [worth(tile, hand), tile]);
  return "discard " + worths.reduce((least, each) => (each[0] < least[0] ? each : least))[1];
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") say({ type: "ready", name: "simple-javascript" });
  if (message.type === "request") say({ type: "answer", table: message.table, action: choose(message) });
});
