"use strict";
// Draws tables and tells events: shared by the viewer and the page on which a person plays. Nothing is loaded; all text
// is set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
// "greedy (1) discards", but "You discard".
const does = (who, verb) => (who === "you" ? `You ${verb === "passes" ? "pass" : verb.slice(0, -1)}` : `${who} ${verb}`);
const words = {
  en: {
    view: "Seen by", all: "everybody (all hands open)", language: "中文", back: "Back", on: "Next",
    steps: { hand: "Hand", step: "Step" }, play: "Play", pause: "Pause", left: "tiles left", indicator: "turned up",
    dealer: "dealer", dice: "dice", points: "Points", nobody: "nobody", you: "you", player: (number) => `player_${number}`,
    hand: (number, of) => (of ? `hand ${number} of ${of}` : `hand ${number}`), round: (wind) => `${wind} round`,
    sitsOut: (who, points) => `${who === "you" ? "you sit out" : `${who} sits out`} (${points})`,
    thought: (who) => (who === "you" ? "Your choice" : `The choice of ${who}`), chosen: "played", expected: "expected points", probability: "probability",
    promised: "promised points", more: "points more than the action played, with the 95 % interval",
    keys: "Keys: ← → one step, Home End previous and next hand, Space play, 0-3 a seat's view, A all hands open. Swipe on a phone.",
    winds: { East: "East", South: "South", West: "West", North: "North" }, letters: { East: "E", South: "S", West: "W", North: "N" },
    hidden: (count) => `${count} hidden ${count === 1 ? "tile" : "tiles"}`, held: (who) => `Tiles of ${who}`, melds: (who) => `Declared by ${who}`,
    discards: (who) => `Discards of ${who}`, takenBy: (who) => `claimed by ${who}`, winner: "wins",
    events: {
      start: () => "A hand begins.",
      resumed: () => "The match goes on from here.",
      discard: (who, tile) => `${does(who, "discards")} ${tile}.`,
      "concealed kong": (who, tile) => `${does(who, "declares")} a concealed kong of ${tile}.`,
      "added kong": (who, tile) => `${does(who, "adds")} ${tile} to a pung: a kong.`,
      "chow low": (who, tile) => `${does(who, "answers")} chow for ${tile}.`,
      "chow middle": (who, tile) => `${does(who, "answers")} chow for ${tile}.`,
      "chow high": (who, tile) => `${does(who, "answers")} chow for ${tile}.`,
      pung: (who, tile) => `${does(who, "answers")} pung for ${tile}.`,
      kong: (who, tile) => `${does(who, "answers")} kong for ${tile}.`,
      "claimed chow": (who, tile, giver) => `${does(who, "claims")} ${tile} from ${giver}: a chow.`,
      "claimed pung": (who, tile, giver) => `${does(who, "claims")} ${tile} from ${giver}: a pung.`,
      "claimed kong": (who, tile, giver) => `${does(who, "claims")} ${tile} from ${giver}: a kong.`,
      win: (who) => `${does(who, "says")} win.`,
      pass: (who, tile) => `${does(who, "passes")}${tile ? ` on ${tile}` : ""}.`,
      "kong paid": () => "The kong is paid.",
    },
    wins: {
      draw: (who, tile) => `${does(who, "wins")} by self-draw with ${tile}.`,
      discard: (who, tile, giver) => `${does(who, "wins")} on ${tile}, discarded by ${giver}.`,
      kong: (who, tile, giver) => `${does(who, "wins")} by robbing ${tile} from ${giver === "you" ? "your" : `${giver}'s`} kong.`,
      flowers: (who) => `${does(who, "wins")} by flowers alone.`,
    },
    drawn: "The hand is drawn: nobody wins.",
    scored: (value) => `The hand is worth ${value}:`,
    row: "row", worth: "value", who: "who", amount: "amount", reason: "why",
    paid: (amount) => (amount < 0 ? `pays ${-amount}` : `receives ${amount}`),
    atOnce: "Paid at once for a kong:",
  },
  zh: {
    view: "视角", all: "全部明牌", language: "English", back: "上一个", on: "下一个",
    steps: { hand: "局", step: "步" }, play: "播放", pause: "暂停", left: "张剩余", indicator: "翻牌", dealer: "庄",
    dice: "骰子", points: "分数", nobody: "无人", you: "你", player: (number) => `${number} 号`,
    hand: (number, of) => (of ? `第 ${number}/${of} 局` : `第 ${number} 局`), round: (wind) => `${wind}风圈`,
    sitsOut: (who, points) => `${who}轮空 (${points})`,
    thought: (who) => `${who}的选择`, chosen: "所打", expected: "期望分数", probability: "概率",
    promised: "预期分数", more: "比所打的多得的分数（95% 区间）",
    keys: "按键：← → 一步，Home End 上一局、下一局，空格 播放，0-3 某家视角，A 全部明牌。手机上可滑动。",
    winds: { East: "东", South: "南", West: "西", North: "北" }, letters: { East: "东", South: "南", West: "西", North: "北" },
    hidden: (count) => `${count} 张暗牌`, held: (who) => `${who}的手牌`, melds: (who) => `${who}的吃碰杠`,
    discards: (who) => `${who}打出的牌`, takenBy: (who) => `被${who}要去`, winner: "胡",
    agents: { random: "随机", greedy: "贪心", "closed-greedy": "门清贪心", "plan-value": "牌效", value: "估值", policy: "策略网络", search: "搜索", reference: "参照", folding: "会弃胡", you: "你" },
    events: {
      start: () => "新的一局开始。",
      resumed: () => "从这里继续。",
      discard: (who, tile) => `${who} 打出 ${tile}。`,
      "concealed kong": (who, tile) => `${who} 暗杠 ${tile}。`,
      "added kong": (who, tile) => `${who} 加杠 ${tile}。`,
      "chow low": (who, tile) => `${who} 要吃 ${tile}。`,
      "chow middle": (who, tile) => `${who} 要吃 ${tile}。`,
      "chow high": (who, tile) => `${who} 要吃 ${tile}。`,
      pung: (who, tile) => `${who} 要碰 ${tile}。`,
      kong: (who, tile) => `${who} 要杠 ${tile}。`,
      "claimed chow": (who, tile, giver) => `${who} 吃 ${giver} 的 ${tile}。`,
      "claimed pung": (who, tile, giver) => `${who} 碰 ${giver} 的 ${tile}。`,
      "claimed kong": (who, tile, giver) => `${who} 杠 ${giver} 的 ${tile}。`,
      win: (who) => `${who} 胡。`,
      pass: (who, tile) => `${who} 过${tile ? ` ${tile}` : ""}。`,
      "kong paid": () => "付杠钱。",
    },
    wins: {
      draw: (who, tile) => `${who} 自摸 ${tile}。`,
      discard: (who, tile, giver) => `${who} 胡 ${giver} 打出的 ${tile}。`,
      kong: (who, tile, giver) => `${who} 抢 ${giver} 的杠 ${tile}。`,
      flowers: (who) => `${who} 以花牌胡。`,
    },
    drawn: "流局。",
    scored: (value) => `这手牌值 ${value}：`,
    row: "番种", worth: "值", who: "谁", amount: "分", reason: "原因",
    paid: (amount) => (amount < 0 ? `付 ${-amount}` : `得 ${amount}`),
    atOnce: "杠牌即付：",
  },
};
Object.assign(words.en, {
  action: { win: "win", pass: "pass", pung: "pung", kong: "kong", chow: "chow", "concealed kong": "concealed kong", "added kong": "added kong" },
  discard: (tile) => `discard ${tile}`,
});
Object.assign(words.zh, {
  action: { win: "胡", pass: "过", pung: "碰", kong: "杠", chow: "吃", "concealed kong": "暗杠", "added kong": "加杠" },
  discard: (tile) => `打出 ${tile}`,
});
const numerals = "一二三四五六七八九";

// What a reader has chosen. Cookies, where there are any, know no ports: a server that is started anew has another one.
function remembered(name) {
  try {
    const cookie = document.cookie.split("; ").find((one) => one.startsWith(`mahjong_env_${name}=`));
    return JSON.parse(cookie ? decodeURIComponent(cookie.slice(cookie.indexOf("=") + 1)) : localStorage.getItem(`mahjong_env_${name}`));
  } catch { return null; } // a page in a frame, or what others have written there
}

function remember(name, value) {
  const text = JSON.stringify(value);
  try {
    if (location.protocol.startsWith("http")) document.cookie = `mahjong_env_${name}=${encodeURIComponent(text)}; path=/; max-age=31536000; samesite=strict`;
    else localStorage.setItem(`mahjong_env_${name}`, text);
  } catch { /* then it holds for this page */ }
}

let language = remembered("language") || (navigator.language || "en").slice(0, 2);
if (!(language in words)) language = "en";

function switchLanguage() {
  language = language === "en" ? "zh" : "en";
  remember("language", language);
}

let view = "all";

const $ = (id) => document.getElementById(id);
const say = () => words[language];

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function tileName(kind) {
  if (kind < 0) return language === "en" ? "a hidden tile" : "暗牌";
  if (language === "en") return data.tileNames[kind];
  if (kind < 27) return numerals[kind % 9] + "万筒条"[Math.floor(kind / 9)];
  return "东南西北白发中梅兰竹菊春夏秋冬"[kind - 27];
}

// An agent by its name: what stands behind a colon is nobody's word.
function agentText(name) {
  const [, kind, rest] = /^([\w-]*)(.*)$/s.exec(name);
  return (Object.hasOwn(say().agents ?? {}, kind) ? say().agents[kind] : kind) + rest;
}

function person(number) {
  if (number === data.person) return say().you;
  if (number < 0) return say().nobody;
  return data.agents[number] ? `${agentText(data.agents[number])} (${number})` : say().player(number);
}

// --- tiles, and the table that they lie on ------------------------------------------------------------------------
const SVG = "http://www.w3.org/2000/svg";

function tile(kind, wild, { classes = [], role = "img", label = tileName(kind) } = {}) {
  const span = make("span", { class: ["tile", ...classes].join(" "), role, "aria-label": label, "data-kind": String(kind) });
  span.title = label;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  for (const face of kind >= 0 && kind === wild ? [`#tile${kind}`, "#wild"] : [`#tile${kind}`]) {
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", face);
    svg.append(use);
  }
  span.append(svg);
  return span;
}

// The claimed tile lies sideways, on the side of the player who gave it (3 before, 2 across, 1 after).
function meld(shown, wild, isOpen) {
  const tiles = isOpen || shown.giver ? [...shown.tiles] : shown.tiles.map(() => -1);
  let side = -1;
  if (shown.giver && tiles.includes(shown.claimed)) {
    tiles.splice(tiles.indexOf(shown.claimed), 1);
    side = { 3: 0, 2: 1, 1: tiles.length }[shown.giver];
    tiles.splice(side, 0, shown.claimed);
  }
  return make("span", { class: "meld" }, ...tiles.map((kind, i) => tile(kind, wild, { classes: i === side ? ["sideways"] : [] })));
}

// The slot `steps` after another: 1 the next player, 2 across, 3 the one before; at tables for three nobody sits across.
function slotAfter(table, slot, steps) {
  const taken = table.places.map((one, i) => (one ? i : -1)).filter((i) => i >= 0);
  return taken[(taken.indexOf(slot) + (steps === 3 ? taken.length - 1 : steps)) % taken.length];
}

// Discards in rows of six, away from the middle; claimed ones stay as shadows with the wind of whoever took them.
const LAID = { // where the n-th row and the n-th tile of a row lie, as each player sees the table
  own: (row, column) => `${row + 1} / ${column + 1}`, across: (row, column, rows) => `${rows - row} / ${6 - column}`,
  next: (row, column) => `${6 - column} / ${row + 1}`, before: (row, column, rows) => `${column + 1} / ${rows - row}`,
};

function river(table, slot, where) {
  const { river: thrown, person: owner } = table.places[slot];
  const rows = Math.max(3, Math.ceil(thrown.length / 6));
  const box = make("div", { class: "river", role: "list", "aria-label": say().discards(person(owner)), style: `--rows: ${rows}` });
  thrown.forEach(([kind, wasDrawn, taken], i) => {
    const isOffered = i === thrown.length - 1 && table.offered[1] === slot && table.offered[0] === kind && !table.is_robbed;
    const taker = taken ? table.places[slotAfter(table, slot, taken)] : null;
    const label = taker ? `${tileName(kind)}: ${say().takenBy(person(taker.person))}` : tileName(kind);
    const classes = [taker && "taken", wasDrawn && "from-wall", isOffered && "offered"].filter(Boolean);
    const one = tile(kind, table.wild, { classes, role: "listitem", label });
    if (taker) one.append(make("span", { class: "by", "aria-hidden": "true" }, say().letters[taker.wind]));
    one.style.gridArea = LAID[where](Math.floor(i / 6), i % 6, rows);
    box.append(one);
  });
  return box;
}

// One side of the table, as a region: who sits there, the tiles, the discards.
function place(frame, where, slot) {
  const { table, event } = frame;
  const shown = table.places[slot];
  const isOpen = view === "all" || Number(view) === shown.person || event.type === "end";
  const hasWon = event.type === "end" && event.winner === shown.person;
  // Who is asked out of turn is seen by that person alone.
  const isAsked = view === "all" || !("in_turn" in frame) || Number(view) === frame.to_act;
  const isTurn = event.type !== "end" && (isAsked ? table.turn === slot : frame.in_turn === shown.person);
  const counters = shown.counters.map(([name, value]) => `${data.marks[name]?.[language === "en" ? 0 : 1] ?? name.replaceAll("_", " ")}: ${value}`);
  const about = [...(shown.is_dealer ? [say().dealer] : []), ...counters].join(" · ");
  const paid = (event.type === "end" ? event.payments : frame.paid)?.[shown.person];
  const plate = make("div", { class: "plate" },
    make("span", { class: "wind", title: say().winds[shown.wind] }, say().letters[shown.wind]), make("h2", {}, person(shown.person)),
    make("span", { class: "points" }, String(shown.points), ...(paid ? [make("b", { class: "delta" }, ` ${paid > 0 ? "+" : "−"}${Math.abs(paid)}`)] : [])),
    ...(hasWon ? [make("b", { class: "winner" }, say().winner)] : []), make("small", {}, about));
  if (shown.flowers.length) plate.append(make("div", { class: "tiles flowers" }, ...shown.flowers.map((kind) => tile(kind, table.wild))));

  const held = shown.hand.map((kind) => tile(isOpen ? kind : -1, table.wild));
  if (shown.drawn !== null) held.push(tile(isOpen ? shown.drawn : -1, table.wild, { classes: hasWon ? ["drawn", "winning"] : ["drawn"] }));
  else if (hasWon && event.tile >= 0) held.push(tile(event.tile, table.wild, { classes: ["drawn", "winning"] }));
  const isHidden = held.every((one) => one.dataset.kind === "-1");
  const hand = make("div", { class: "tiles hand", role: isHidden ? "img" : "group",
    "aria-label": isHidden ? say().hidden(held.length) : say().held(person(shown.person)) }, ...held);
  if (isHidden) for (const one of held) one.setAttribute("aria-hidden", "true");
  const rack = make("div", { class: "rack" }, hand);
  if (shown.melds.length) {
    rack.append(make("div", { class: "tiles melds", role: "group", "aria-label": say().melds(person(shown.person)) },
      ...shown.melds.map((one) => meld(one, table.wild, isOpen || !data.hidesConcealedKongs))));
  }
  // How many tiles of the hand the rack is wide: what is declared is smaller.
  const wide = held.length + (held.some((one) => one.classList.contains("drawn")) ? 0.34 : 0)
    + shown.melds.reduce((sum, one) => sum + (one.tiles.length + 0.34) * 0.75 + 0.2, 0.3);
  rack.style.setProperty("--wide", wide.toFixed(2));
  const state = `${isTurn ? " turn" : ""}${hasWon ? " won" : ""}`;
  return make("section", { class: `place ${where}${state}`, "data-person": shown.person, "aria-label": [person(shown.person), say().winds[shown.wind], about].filter(Boolean).join(", ") },
    plate, rack, river(table, slot, where));
}

// Draws a frame as it is seen from a slot.
const SEATS = ["own", "next", "across", "before"];
function lay(frame, first = 0) {
  const { table } = frame;
  const felt = make("div", { class: "felt" });
  const isFull = table.places.every((one) => one);
  let slot = first;
  for (const where of isFull ? SEATS : SEATS.filter((one) => one !== "across")) {
    felt.append(place(frame, where, slot));
    slot = slotAfter(table, slot, 1);
  }
  felt.append(middle(table));
  $("table").classList.toggle("full", isFull);
  $("table").replaceChildren(felt);
}

// The tile that has just been discarded slides to where it lies, from its own place in the hand or from the player's tiles.
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
function slide(event, from = null) {
  const side = event.type === "discard" && document.querySelector(`#table [data-person="${event.person}"]`);
  const one = side && side.querySelector(".river .tile:last-child");
  if (!one || isStill.matches) return;
  const [start, end] = [from ?? side.querySelector(".rack").getBoundingClientRect(), one.getBoundingClientRect()];
  const [x, y] = [start.x + (start.width - end.width) / 2 - end.x, start.y + (start.height - end.height) / 2 - end.y];
  one.animate([{ transform: `translate(${x}px, ${y}px)`, zIndex: 3 }, { transform: "none", zIndex: 3 }], { duration: 220, easing: "ease-out" });
}

// All copies of a tile light up with it.
for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, (event) => {
    const kind = event.target.closest?.("[data-kind]")?.dataset.kind ?? "-1";
    for (const one of document.querySelectorAll("#table [data-kind]")) one.classList.toggle("alike", kind !== "-1" && one.dataset.kind === kind);
  });
}

// A variant by its name, as text and drawn.
const titleText = () => (language === "en" ? data.title : data.chinese);
const named = ({ title, chinese }) => (language === "en" ? [title, " ", make("span", { lang: "zh" }, chinese)] : [chinese]);

const personOf = (name) => Number(name.slice(name.lastIndexOf("_") + 1)); // "player_3"

// What stays the same through a hand, above the table.
function facts(table, ...more) {
  $("title").replaceChildren(...named(data));
  $("facts").textContent = [say().hand(table.hand_number, table.num_hands), say().round(say().winds[table.round_wind]),
    table.deal_words[language === "en" ? 0 : 1], table.dice ? `${say().dice} ${table.dice}` : "",
    ...table.sits_out.map(([name, held]) => say().sitsOut(person(personOf(name)), held)), ...more].filter(Boolean).join(" · ");
}

function middle(table) {
  const box = make("div", { class: "middle" });
  box.append(make("div", {}, make("div", { class: "left" }, String(table.tiles_left)), make("div", { class: "faint" }, say().left)));
  const shown = make("div", { class: "shown" });
  const word = table.wild_words[language === "en" ? 0 : 1];
  for (const [kind, name, wild] of [[table.wild, word, table.wild], [table.indicator, say().indicator, -2]]) {
    if (kind >= 0) shown.append(make("div", {}, tile(kind, wild), make("div", { class: "faint" }, name)));
  }
  box.append(shown);
  return box;
}

function eventText(event) {
  if (event.type === "end") {
    const last = event.last?.type === "discard" ? eventText(event.last) : "";
    if (event.winner < 0) return [last, say().drawn].filter(Boolean).join(language === "en" ? " " : "");
    return say().wins[event.source](person(event.winner), tileName(event.tile), person(event.from));
  }
  const giver = "from" in event ? person(event.from) : "";
  return say().events[event.type](person(event.person), event.tile === undefined ? "" : tileName(event.tile), giver);
}

const STEPS = { "chow low": [0, 1, 2], "chow middle": [-1, 0, 1], "chow high": [-2, -1, 0] };

// An action by its name: the word for it, and the kinds that it is about at a table.
function actionParts(name, table) {
  const at = name.lastIndexOf(" ");
  const named = data.kindNames.indexOf(name.slice(at + 1));
  if (named >= 0) return { verb: name.slice(0, at), kinds: [named] };
  const offered = table.offered[0];
  if (STEPS[name]) return { verb: "chow", kinds: STEPS[name].map((step) => offered + step) };
  return { verb: name, kinds: ["pung", "kong"].includes(name) && offered >= 0 ? [offered] : [] };
}

function actionText(name, table) {
  const { verb, kinds } = actionParts(name, table);
  if (verb === "discard") return say().discard(tileName(kinds[0]));
  return [say().action[verb], ...kinds.map(tileName)].join(" ");
}

// The same with the tiles drawn: for tables of choices.
function actionDrawn(name, table) {
  const { verb, kinds } = actionParts(name, table);
  const word = verb === "discard" ? say().discard("").trim() : say().action[verb];
  return make("span", { class: "action", title: actionText(name, table) }, make("span", { class: "word" }, word), ...kinds.map((kind) => tile(kind, table.wild)));
}

function cells(...values) {
  return make("tr", {}, ...values.map((value) => make("td", typeof value === "number" ? { class: "number" } : {}, String(value))));
}

function headings(...names) {
  return make("thead", {}, make("tr", {}, ...names.map((name) => (name ? make("th", { scope: "col" }, name) : make("td")))));
}
