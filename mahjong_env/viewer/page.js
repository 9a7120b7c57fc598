"use strict";
// Shows the frames of one match. Nothing is loaded; all text is set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const frames = data.frames;
const words = {
  en: {
    seen: "Seen by", all: "everybody (all hands open)", language: "中文", first: "First", back: "Back", on: "Next",
    last: "Last", play: "Play", pause: "Pause", left: "tiles left", wild: "wild", indicator: "turned up",
    dealer: "dealer", streak: "dealer's streak", dice: "dice", hand: "hand", round: "round", points: "Points",
    why: "Why", value: "value", nobody: "nobody", thought: "What the agent thought", expected: "expected points",
    more: "points more than the action played, with 95 % intervals",
    keys: "Keys: ← → one step, Home End first and last, Space play, 0-3 a seat's view, A all hands open. Swipe on a phone.",
    winds: { East: "East", South: "South", West: "West", North: "North" },
    events: {
      start: () => "A hand begins.",
      discard: (who, tile) => `${who} discards ${tile}.`,
      "concealed kong": (who, tile) => `${who} declares a concealed kong of ${tile}.`,
      "added kong": (who, tile) => `${who} adds ${tile} to a pung: a kong.`,
      "chow low": (who, tile) => `${who} answers chow for ${tile}.`,
      "chow middle": (who, tile) => `${who} answers chow for ${tile}.`,
      "chow high": (who, tile) => `${who} answers chow for ${tile}.`,
      pung: (who, tile) => `${who} answers pung for ${tile}.`,
      kong: (who, tile) => `${who} answers kong for ${tile}.`,
      win: (who) => `${who} says win.`,
      pass: (who, tile) => `${who} passes${tile ? ` on ${tile}` : ""}.`,
    },
    wins: {
      draw: (who, tile) => `${who} wins by self-draw with ${tile}.`,
      discard: (who, tile, giver) => `${who} wins on ${tile}, discarded by ${giver}.`,
      kong: (who, tile, giver) => `${who} wins by robbing ${tile} from ${giver}'s kong.`,
      flowers: (who) => `${who} wins by flowers alone.`,
    },
    drawn: "The hand is drawn: nobody wins.",
    scored: (value) => `The hand is worth ${value}:`,
    paid: (who, amount) => (amount < 0 ? `${who} pays ${-amount}` : `${who} receives ${amount}`),
    atOnce: "Paid at once for a kong:",
  },
  zh: {
    seen: "视角", all: "全部明牌", language: "English", first: "开头", back: "上一步", on: "下一步", last: "结尾",
    play: "播放", pause: "暂停", left: "张剩余", wild: "赖子/财神", indicator: "翻牌", dealer: "庄", streak: "连庄",
    dice: "骰子", hand: "第", round: "圈", points: "分数", why: "原因", value: "值", nobody: "无人",
    thought: "智能体的判断", expected: "期望分数", more: "比实际所打多得的分数（95% 区间）",
    keys: "按键：← → 一步，Home End 首尾，空格 播放，0-3 某家视角，A 全部明牌。手机上可滑动。",
    winds: { East: "东", South: "南", West: "西", North: "北" },
    events: {
      start: () => "新的一局开始。",
      discard: (who, tile) => `${who} 打出 ${tile}。`,
      "concealed kong": (who, tile) => `${who} 暗杠 ${tile}。`,
      "added kong": (who, tile) => `${who} 加杠 ${tile}。`,
      "chow low": (who, tile) => `${who} 要吃 ${tile}。`,
      "chow middle": (who, tile) => `${who} 要吃 ${tile}。`,
      "chow high": (who, tile) => `${who} 要吃 ${tile}。`,
      pung: (who, tile) => `${who} 要碰 ${tile}。`,
      kong: (who, tile) => `${who} 要杠 ${tile}。`,
      win: (who) => `${who} 胡。`,
      pass: (who, tile) => `${who} 过${tile ? ` ${tile}` : ""}。`,
    },
    wins: {
      draw: (who, tile) => `${who} 自摸 ${tile}。`,
      discard: (who, tile, giver) => `${who} 胡 ${giver} 打出的 ${tile}。`,
      kong: (who, tile, giver) => `${who} 抢 ${giver} 的杠 ${tile}。`,
      flowers: (who) => `${who} 以花牌胡。`,
    },
    drawn: "流局。",
    scored: (value) => `这手牌值 ${value}：`,
    paid: (who, amount) => (amount < 0 ? `${who} 付 ${-amount}` : `${who} 得 ${amount}`),
    atOnce: "杠牌即付：",
  },
};
const numerals = "一二三四五六七八九";
let language = (navigator.language || "en").startsWith("zh") ? "zh" : "en";
let view = "all";
let at = 0;
let timer = null;

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

function person(number) {
  const agent = data.agents[number];
  return number < 0 ? say().nobody : agent ? `${agent} (${number})` : `player_${number}`;
}

function tile(kind, wild, { sideways = false, offered = false } = {}) {
  const classes = ["tile"];
  if (sideways) classes.push("sideways");
  if (offered) classes.push("offered");
  if (kind >= 0 && kind === wild) classes.push("wild");
  const span = make("span", { class: classes.join(" "), role: "img", "aria-label": tileName(kind) });
  span.title = tileName(kind);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#tile${kind}`);
  svg.append(use);
  span.append(svg);
  return span;
}

// The claimed tile lies sideways, on the side of the player who gave it (3 before, 2 across, 1 after).
function meld(shown, wild, isOpen) {
  const kong = shown.tiles.length === 4;
  const tiles = isOpen || shown.giver ? [...shown.tiles] : shown.tiles.map(() => -1);
  let side = -1;
  if (shown.giver && tiles.includes(shown.claimed)) {
    tiles.splice(tiles.indexOf(shown.claimed), 1);
    side = { 3: 0, 2: 1, 1: tiles.length }[shown.giver];
    tiles.splice(side, 0, shown.claimed);
  }
  return make("span", { class: kong ? "meld kong" : "meld" }, ...tiles.map((kind, i) => tile(kind, wild, { sideways: i === side })));
}

function place(table, seat, slot) {
  const shown = table.places[slot];
  const number = Number(shown.name.split("_")[1]);
  const isOpen = view === "all" || Number(view) === number;
  const where = ["own", "next", "across", "before"][seat];
  const box = make("div", { class: `place ${where}${table.turn === slot ? " turn" : ""}` });
  const counters = shown.counters.map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  const about = [say().winds[shown.wind], ...(shown.is_dealer ? [say().dealer] : []), ...counters].join(" · ");
  box.append(make("h2", {}, person(number), make("span", { class: "points" }, String(shown.points)), make("small", {}, about)));
  const hand = make("div", { class: "tiles hand" });
  for (const kind of shown.hand) hand.append(tile(isOpen ? kind : -1, table.wild));
  if (shown.drawn !== null) {
    const drawn = tile(isOpen ? shown.drawn : -1, table.wild);
    drawn.classList.add("drawn");
    hand.append(drawn);
  }
  box.append(hand);
  if (shown.melds.length) {
    const row = make("div", { class: "tiles melds" });
    for (const one of shown.melds) row.append(meld(one, table.wild, isOpen || !data.hidesConcealedKongs));
    box.append(row);
  }
  if (shown.flowers.length) box.append(make("div", { class: "tiles flowers" }, ...shown.flowers.map((kind) => tile(kind, table.wild))));
  const [offered, giver] = table.offered;
  box.append(make("div", { class: "tiles river" }, ...shown.river.map((kind, i) =>
    tile(kind, table.wild, { offered: giver === slot && kind === offered && i === shown.river.length - 1 }))));
  return box;
}

function middle(table) {
  const box = make("div", { class: "middle" });
  box.append(make("div", {}, make("div", { class: "left" }, String(table.tiles_left)), make("div", { class: "faint" }, say().left)));
  const shown = make("div", { class: "shown" });
  for (const [kind, word] of [[table.wild, "wild"], [table.indicator, "indicator"]]) {
    if (kind >= 0) shown.append(make("div", {}, tile(kind, word === "wild" ? kind : -2), make("div", { class: "faint" }, say()[word])));
  }
  box.append(shown);
  return box;
}

function eventText(event) {
  if (event.type === "end") {
    if (event.winner < 0) return say().drawn;
    return say().wins[event.source](person(event.winner), tileName(event.tile), person(event.from));
  }
  return say().events[event.type](person(event.person), event.tile >= 0 ? tileName(event.tile) : "");
}

function reasons(frame) {
  const box = $("reasons");
  box.replaceChildren();
  const event = frame.event;
  if (event.type === "end" && event.winner >= 0) {
    box.append(make("h3", {}, say().scored(event.value)));
    const rows = event.rows.map(([name, chinese, value]) =>
      make("tr", {}, make("td", {}, language === "en" ? name : chinese || name), make("td", {}, language === "en" ? chinese : name),
        make("td", { class: "number" }, String(value))));
    box.append(make("table", {}, make("tbody", {}, ...rows)));
  } else if (frame.paid) box.append(make("h3", {}, say().atOnce));
  const paid = event.type === "end" ? event.payments : frame.paid;
  if (paid && paid.some((amount) => amount)) {
    box.append(make("p", {}, paid.map((amount, i) => [amount, i]).filter(([amount]) => amount)
      .map(([amount, i]) => say().paid(person(i), amount)).join(language === "en" ? ", " : "，")));
  }
}

function thought(frame) {
  const box = $("thought");
  box.replaceChildren();
  if (!frame.note || (view !== "all" && Number(view) !== frame.to_act)) return;
  box.append(make("h3", {}, `${say().thought}: ${person(frame.to_act)}`));
  if (typeof frame.note.value === "number") box.append(make("p", {}, `${say().expected}: ${frame.note.value.toFixed(2)}`));
  const listed = Object.entries(frame.note.probabilities || {}).sort((one, other) => other[1] - one[1]).slice(0, 12);
  const intervals = frame.note.intervals || {};
  const rows = listed.map(([name, share]) => make("tr", {}, make("td", {}, name),
    make("td", {}, make("span", { class: "bar", style: `width:${Math.max(1, share * 160)}px` })),
    make("td", { class: "number" }, `${(share * 100).toFixed(1)} %`)));
  if (Object.keys(intervals).length) rows.push(make("tr", {}, make("td", { colspan: 3 }, say().more)));
  for (const [name, [low, mean, high]] of Object.entries(intervals))
    rows.push(make("tr", {}, make("td", {}, name), make("td", { class: "number" }, mean.toFixed(2)),
      make("td", { class: "number" }, `[${low.toFixed(2)}, ${high.toFixed(2)}]`)));
  if (rows.length) box.append(make("table", {}, make("tbody", {}, ...rows)));
}

// Points over the match: one line for each person, and where we are.
function chart() {
  const box = $("chart");
  box.replaceChildren(make("h3", {}, say().points));
  const all = frames.map((frame) => frame.points);
  const [least, most] = [Math.min(...all.flat()), Math.max(...all.flat())];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 1000 160");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${say().points}: ${frames[at].points.map((held, i) => `${person(i)} ${held}`).join(", ")}`);
  const x = (i) => (i / Math.max(frames.length - 1, 1)) * 1000;
  const y = (held) => 152 - ((held - least) / Math.max(most - least, 1)) * 144;
  const line = (points, colour, width) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    path.setAttribute("points", points);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", width);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    svg.append(path);
  };
  const colours = ["#c4142b", "#1b6fd0", "#1c8a3c", "#b07400"];
  const legend = make("p", {});
  for (let i = 0; i < data.people; i += 1) {
    line(all.map((held, j) => `${x(j)},${y(held[i])}`).join(" "), colours[i], 2.5);
    legend.append(make("span", { style: `color:${colours[i]};margin-right:1.2em` }, `■ ${person(i)} ${frames[at].points[i]}`));
  }
  line(`${x(at)},0 ${x(at)},160`, "currentColor", 1);
  box.append(legend, svg);
}

function show(index) {
  at = Math.max(0, Math.min(frames.length - 1, index));
  const frame = frames[at];
  const table = frame.table;
  const first = view === "all" ? 0 : Math.max(0, table.places.findIndex((one) => one && one.name === `player_${view}`));
  document.documentElement.lang = language === "en" ? "en" : "zh";
  const of = table.num_hands ? ` / ${table.num_hands}` : "";
  $("title").textContent = `${data.title} ${data.chinese}`;
  $("facts").textContent = [`${say().hand} ${table.hand_number}${of}`, `${say().winds[table.round_wind]} ${say().round}`,
    ...(table.streak ? [`${say().streak} ${table.streak}`] : []), ...(table.dice ? [`${say().dice} ${table.dice}`] : []),
    ...Object.entries(data.knobs).map(([name, value]) => `${name}=${value}`)].join(" · ");
  $("event").textContent = eventText(frame.event);
  const box = $("table");
  box.replaceChildren();
  const order = table.places.map((_, slot) => (first + slot) % table.places.length);
  order.forEach((slot, seat) => { if (table.places[slot]) box.append(place(table, rotated(table, seat, slot, first), slot)); });
  box.append(middle(table));
  $("slider").max = frames.length - 1;
  $("slider").value = at;
  $("slider").setAttribute("aria-valuetext", eventText(frame.event));
  $("place").textContent = `${at + 1} / ${frames.length}`;
  reasons(frame);
  thought(frame);
  chart();
}

// At tables for three nobody sits across, whoever is looked at from.
function rotated(table, seat, slot, first) {
  if (table.places.every((one) => one)) return seat;
  const taken = table.places.map((one, i) => (one ? i : -1)).filter((i) => i >= 0);
  return [0, 1, 3][(taken.indexOf(slot) - taken.indexOf(first) + taken.length) % taken.length];
}

// What others keep to themselves is not a step for somebody who sees one hand: that they passed.
function isSeen(frame) {
  return view === "all" || frame.event.type !== "pass" || frame.event.person === Number(view);
}

function move(step) {
  let next = at + step;
  while (next > 0 && next < frames.length - 1 && !isSeen(frames[next])) next += step;
  show(next);
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => (at >= frames.length - 1 ? play(false) : move(1)), 900) : null;
  const button = document.querySelector('[data-step="play"]');
  button.setAttribute("aria-pressed", String(on));
  button.textContent = on ? say().pause : say().play;
}

function label() {
  for (const button of document.querySelectorAll("[data-step]")) button.textContent = say()[button.dataset.step];
  document.querySelector("[data-say]").textContent = say().seen;
  $("language").textContent = say().language;
  $("slider").setAttribute("aria-label", `${say().on} / ${say().back}`);
  $("keys").textContent = say().keys;
  const select = $("view");
  select.replaceChildren(make("option", { value: "all" }, say().all));
  for (let i = 0; i < data.people; i += 1) select.append(make("option", { value: String(i) }, person(i)));
  select.value = view;
  play(timer !== null);
}

const steps = { first: () => show(0), back: () => move(-1), on: () => move(1), last: () => show(frames.length - 1), play: () => play(timer === null) };
for (const button of document.querySelectorAll("[data-step]")) button.addEventListener("click", () => steps[button.dataset.step]());
$("slider").addEventListener("input", (event) => show(Number(event.target.value)));
$("view").addEventListener("change", (event) => { view = event.target.value; show(at); });
$("language").addEventListener("click", () => { language = language === "en" ? "zh" : "en"; label(); show(at); });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const onButton = event.target.tagName === "BUTTON" && event.key === " ";
  const key = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play" }[event.key];
  if (key && !onButton) { event.preventDefault(); steps[key](); }
  const seat = event.key.toLowerCase() === "a" ? "all" : event.key;
  if (seat === "all" || (/^[0-3]$/.test(seat) && Number(seat) < data.people)) { view = seat; $("view").value = view; show(at); }
});
let touched = null;
$("table").addEventListener("touchstart", (event) => { touched = event.touches[0].clientX; }, { passive: true });
$("table").addEventListener("touchend", (event) => {
  const way = event.changedTouches[0].clientX - touched;
  if (touched !== null && Math.abs(way) > 40) move(way < 0 ? 1 : -1);
  touched = null;
}, { passive: true });
// A link may name a frame and a view: viewer.html#12 or viewer.html#12,3.
const [frame, seat] = location.hash.slice(1).split(",");
if (/^[0-9]$/.test(seat || "") && Number(seat) < data.people) view = seat;
label();
show(Number(frame) - 1 || 0);
