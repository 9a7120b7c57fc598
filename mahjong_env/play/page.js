"use strict";
// A person's match: shows what the server sends, and sends what is clicked. The server knows the rules and the tiles.
Object.assign(words.en, {
  pace: "Pace of the others", paces: ["at once", "quick", "slow"], hint: "Hint", next: "Next hand",
  again: "New match", save: "Save the record", over: "The match is over.",
  turn: "Your turn: choose a tile to discard.", drew: (tile) => `You draw ${tile}.`,
  claim: (tile) => `Do you want ${tile}?`, rob: (tile) => `Do you rob ${tile}?`,
  opening: "Before the first turn: do you want to win?",
  would: (agent) => `${agent} would:`, away: "tiles away", helps: "what would help", count: "tiles",
  afterwards: ", then", winNow: (value) => `You may win now: the hand is worth ${value}.`,
  choice: "choice", errors: { lost: "The server does not answer. Is the program still running?" }, thinking: "The others play…",
  written: (file, match) => `This is match ${match} of ${file}.`, unwritten: "Save the record; then, in the folder where it is:",
  look: "To look at it again, step by step:", review: "To find out what each of your choices was worth:",
  keys: "Keys: ← → choose, Enter plays it; W win, P pung, C chow, K kong, X pass, H hint, N next hand, Space hurries the others.",
});
Object.assign(words.zh, {
  pace: "对手速度", paces: ["立即", "快", "慢"], hint: "提示", next: "下一局",
  again: "新的一场", save: "保存记录", over: "本场结束。",
  turn: "轮到你：请选一张牌打出。", drew: (tile) => `你摸到 ${tile}。`,
  claim: (tile) => `要 ${tile} 吗？`, rob: (tile) => `抢 ${tile} 吗？`,
  opening: "第一巡之前：要胡吗？",
  would: (agent) => `${agent} 会：`, away: "差几张", helps: "有用的牌", count: "张数",
  afterwards: "，再", winNow: (value) => `现在可以胡：这手牌值 ${value}。`,
  choice: "选择",
  errors: {
    lost: "服务器没有回应。程序还在运行吗？", gone: "没有这一场（或已不在）：请开始新的一场。", early: "本场结束后才能保存记录。",
    request: "请求无效。", unknown: "没有这个动作。", illegal: "现在不能这样做。", stale: "这一问已经回答过了。",
    turn: "现在不能这样做：还没轮到你。", answer: "现在不能这样做：正在等你回答。", next: "现在不能这样做：这一局已经结束。",
    over: "现在不能这样做：本场已经结束。",
  },
  thinking: "其他人在打……",
  written: (file, match) => `这是 ${file} 中的第 ${match} 场。`, unwritten: "先保存记录，再在同一文件夹中运行：",
  look: "逐步回看：", review: "复盘，看你的每个选择值多少：",
  keys: "按键：← → 选择，回车 确定；W 胡，P 碰，C 吃，K 杠，X 过，H 提示，N 下一局，空格 加快。",
});

let game = "";
let state = null; // what the server said last
let shown = null; // the frame on the table
let hinted = null;
let complaint = null;
let busy = false;
let hurry = null;
let pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1;
const PACES = [0, 350, 1000]; // milliseconds between two events
const [TURN, OPENING] = [1, 4]; // mahjong_env.state.arrays.Phase

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try { answer = await fetch(path, options); } catch (error) { throw Object.assign(new Error("no answer", { cause: error }), { code: "lost" }); }
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), { code: told.code });
  return told;
}

function complain(error) {
  complaint = error;
  $("error").textContent = error ? say().errors[error.code] || error.message : "";
}

function draw(frame) {
  shown = frame;
  const table = frame.table;
  document.documentElement.lang = language === "en" ? "en" : "zh";
  facts(table);
  const box = $("table");
  box.className = frame.event.type === "end" ? "open" : "";
  box.replaceChildren();
  table.places.forEach((one, slot) => { if (one) box.append(place(table, slot, slot)); });
  box.append(middle(table));
  reasons(frame);
}

function questionText(table) {
  const offered = table.offered[0];
  if (state.phase === TURN) {
    const own = table.places[0];
    return `${own.drawn === null ? "" : `${say().drew(tileName(own.drawn))} `}${say().turn}`;
  }
  if (state.phase === OPENING || offered < 0) return say().opening;
  return (table.is_robbed ? say().rob : say().claim)(tileName(offered));
}

function told(frame) {
  if (frame.event.type === "asked") return questionText(frame.table);
  return eventText(frame.event);
}

// --- what can be clicked ------------------------------------------------------------------------------------------
function clickable(name, children, about, extra = "") {
  const button = make("button", { type: "button", class: `choice ${extra}`, "data-action": name, "aria-label": about }, ...children);
  button.addEventListener("click", () => answer(name));
  return button;
}

function discards() {
  const legal = new Set(state.legal);
  for (const span of document.querySelectorAll("#table .own .hand .tile")) {
    const kind = Number(span.dataset.kind);
    const name = `discard ${data.kindNames[kind]}`;
    if (!legal.has(name)) continue;
    const drawn = span.classList.contains("drawn") ? " drawn" : "";
    const wild = span.classList.contains("wild") ? " wild" : "";
    const button = clickable(name, [...span.childNodes], say().discard(tileName(kind)), `tile${drawn}${wild}`);
    button.title = tileName(kind);
    span.replaceWith(button);
  }
}

function actions() {
  const box = $("ask");
  box.replaceChildren();
  if (state.waitsFor === "answer") {
    for (const name of state.legal.filter((one) => !one.startsWith("discard "))) {
      const button = clickable(name, [actionDrawn(name, shown.table)], actionText(name, shown.table), name === "win" ? "win" : "");
      box.append(button);
    }
    box.append(simple("hint", say().hint, hint));
  } else if (state.waitsFor === "next") {
    box.append(simple("next", say().next, next));
  } else {
    box.append(make("p", {}, say().over), simple("again", say().again, begin));
    const link = make("a", { href: `games/${game}/record`, download: "match.jsonl", id: "save" }, say().save);
    box.append(link);
    afterwards();
  }
}

function simple(id, text, action) {
  const button = make("button", { type: "button", id }, text);
  button.addEventListener("click", () => action());
  return button;
}

// How a match that is over can be looked at and reviewed.
function afterwards() {
  const { file, match, look, review } = state.afterwards;
  $("hints").replaceChildren(make("p", {}, match ? say().written(file, match) : say().unwritten),
    ...[[look, "look"], [review, "review"]].map(([command, what]) =>
      make("p", {}, say()[what], make("code", { id: what }, command))));
}

function points() {
  const people = [...Array(data.people).keys()];
  const rows = state.pointsByHand.map((held, i) => cells(i ? say().hand(i) : "", ...people.map((one) => held[one])));
  $("points").replaceChildren(make("h3", {}, say().points),
    make("table", {}, headings("", ...people.map(person)), make("tbody", {}, ...rows)));
}

// --- going on -----------------------------------------------------------------------------------------------------
function pause() {
  if (!PACES[pace]) return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(done, PACES[pace]);
    hurry = () => { clearTimeout(timer); done(); };
  });
}

async function play(newState) {
  state = newState;
  hinted = null;
  $("hints").replaceChildren();
  $("ask").replaceChildren(make("p", {}, say().thinking));
  const frames = state.frames;
  for (const [i, frame] of frames.entries()) {
    draw(frame);
    $("event").textContent = told(frame);
    const next = frames[i + 1];
    if (next && next.event.type !== "asked") await pause();
    else if (next) { // the question stands beside what has led to it
      draw(next);
      $("event").textContent = `${frame.event.type === "asked" ? "" : told(frame)} ${told(next)}`;
      reasons(frame);
      break;
    }
  }
  settle(true);
}

// The last frame, with everything that can be clicked.
function settle(takeFocus) {
  hurry = null;
  if (state.waitsFor === "answer") discards();
  actions();
  points();
  if (!takeFocus) return;
  $("ask").scrollIntoView({ block: "nearest" });
  const own = document.querySelector("#table .own .hand button.drawn") || document.querySelector('#ask [data-action="pass"]')
    || document.querySelector("#table .own .hand button") || document.querySelector("#ask button");
  if (own) own.focus({ preventScroll: true });
}

async function once(action) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  complain(null);
  try { await action(); } catch (error) { complain(error); }
  document.body.removeAttribute("aria-busy");
  busy = false;
}

function answer(name) {
  return once(async () => play(await ask(`games/${game}/answer`, { position: state.position, action: name })));
}

function next() {
  return once(async () => play(await ask(`games/${game}/next`, { position: state.position })));
}

function begin() {
  return once(async () => open(await ask("games", {})));
}

async function open(answer) {
  if (answer.game) { game = answer.game; history.replaceState(null, "", `#${game}`); }
  Object.assign(data, answer.table);
  await play(answer);
}

function hint() {
  return once(async () => { hinted = await ask(`games/${game}/hint`, { position: state.position }); showHint(); });
}

function showHint() {
  const box = $("hints");
  if (!hinted) return;
  box.replaceChildren();
  if (hinted.win) box.append(make("h3", {}, say().winNow(hinted.win.value)), scoredRows(hinted.win.rows));
  if (hinted.advice) box.append(make("h3", {}, `${say().would(hinted.agent)} ${actionText(hinted.advice, shown.table)}`));
  const rows = hinted.prospects.map((one) => {
    const helps = make("div", { class: "tiles" }, ...one.helps.map(([kind, count]) =>
      make("span", {}, tile(kind, shown.table.wild), ` ×${count}`)));
    const choice = make("td", {}, actionDrawn(one.action, shown.table));
    if (one.then) choice.append(make("span", { class: "action" }, make("span", { class: "word" }, say().afterwards), actionDrawn(one.then, shown.table)));
    return make("tr", {}, choice, make("td", { class: "number" }, one.distance), make("td", { class: "number" }, one.tiles),
      make("td", {}, helps));
  });
  if (rows.length) box.append(make("table", {}, headings(say().choice, say().away, say().count, say().helps), make("tbody", {}, ...rows)));
}

// --- keys, language, start ----------------------------------------------------------------------------------------
function walk(step) {
  const all = [...document.querySelectorAll("#table .own .hand button, #ask button, #ask a")];
  const now = all.indexOf(document.activeElement);
  if (all.length) all[(now + step + all.length) % all.length].focus();
}

const KEYS = { w: "win", p: "pung", c: "chow", k: "kong", x: "pass" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const key = event.key.toLowerCase();
  if (key === " " && hurry) { event.preventDefault(); hurry(); return; }
  if (key === "arrowleft" || key === "arrowright") { event.preventDefault(); walk(key === "arrowright" ? 1 : -1); return; }
  if (key === "h" && $("hint")) hint();
  else if (key === "n" && $("next")) next();
  else if (key in KEYS && state && !busy && state.waitsFor === "answer") {
    const fitting = state.legal.find((name) => !name.startsWith("discard ") && name.includes(KEYS[key]));
    if (fitting) answer(fitting);
  }
});

function label() {
  document.querySelector("[data-say]").textContent = say().pace;
  $("language").textContent = say().language;
  $("keys").textContent = say().keys;
  $("pace").replaceChildren(...say().paces.map((text, i) => make("option", { value: String(i) }, text)));
  $("pace").value = String(pace);
}

$("pace").addEventListener("change", (event) => { pace = Number(event.target.value); });
$("language").addEventListener("click", () => {
  language = language === "en" ? "zh" : "en";
  label();
  complain(complaint);
  if (!shown || busy) return;
  draw(shown);
  $("event").textContent = told(shown);
  settle(false);
  showHint();
});
label();
game = location.hash.slice(1);
once(async () => {
  if (game) {
    try { await open(await ask(`games/${game}`)); return; } catch { game = ""; } // the program was started anew
  }
  await open(await ask("games", {}));
});
