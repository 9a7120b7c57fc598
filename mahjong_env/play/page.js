"use strict";
// A person's match: shows what the server sends, and sends what is clicked. The server knows the rules and the tiles.
Object.assign(words.en, {
  pace: "Pace of the others", paces: ["at once", "quick", "slow"], hint: "Hint", next: "Next hand",
  again: "New match", save: "Save the record", over: "The match is over.",
  turn: "Your turn: choose a tile to discard.", drew: (tile) => `You draw ${tile}.`,
  claim: (tile) => `Do you want ${tile}?`, rob: (tile) => `Do you rob ${tile}?`,
  opening: "Before the first turn: do you want to win?", stranded: "The last flower cannot be replaced: do you want to win?",
  would: (agent) => `${agent} would:`, away: "tiles away", helps: "what would help", count: "tiles",
  afterwards: ", then", winNow: (value) => `You may win now: the hand is worth ${value}.`,
  choice: "choice", waits: "ready: waits for", others: (count) => `${count} more`, thinking: "The others play…", yourTurn: "Your turn", mayWin: "You may win.",
  errors: {
    lost: "The server does not answer. Is the program still running? This page keeps trying.",
    restarted: "The program has been restarted: open the address that it has printed.",
    stale: "That question has been answered already. This is the present state.",
  },
  lifted: (tile) => `${tile}: touch it once more to discard it.`, which: "Which one? Choose by its number.",
  settings: "Settings", rules: "Rules", close: "Close", passes: "Pass automatically (never when you can win)",
  noClaims: "No claims until my next turn (except a win)", sound: "Sound",
  written: (file, match) => `This is match ${match} of ${file}.`, unwritten: "Save the record. Then, in its folder, run:",
  reviewThis: "Review this match", openReview: "Open the review",
  reviewing: (done, of) => (of ? `Reviewing: ${done} of ${of} choices` : "The review begins…"),
  look: "To watch it again, step by step:", review: "To find out what each of your choices was worth:",
  keys: "Keys: ← → choose, Enter plays it; W win, P pung, C chow, K kong, 1 2 3 one of several, X pass, H hint, N next hand, Space hurries the others.",
});
Object.assign(words.zh, {
  pace: "对手速度", paces: ["立即", "快", "慢"], hint: "提示", next: "下一局",
  again: "新的一场", save: "保存记录", over: "本场结束。",
  turn: "轮到你：请选一张牌打出。", drew: (tile) => `你摸到 ${tile}。`,
  claim: (tile) => `要 ${tile} 吗？`, rob: (tile) => `抢 ${tile} 吗？`,
  opening: "第一巡之前：要胡吗？", stranded: "最后一张花无牌可补：要胡吗？",
  would: (agent) => `${agent} 会：`, away: "差几张", helps: "有用的牌", count: "张数",
  afterwards: "，再", winNow: (value) => `现在可以胡：这手牌值 ${value}。`,
  choice: "选择", waits: "听牌", others: (count) => `另外 ${count} 个`, yourTurn: "轮到你", mayWin: "可以胡！",
  lifted: (tile) => `${tile}：再点一次即打出。`, which: "要哪一个？请按号码选择。",
  settings: "设置", rules: "规则", close: "关闭", passes: "自动过（能胡时不过）", noClaims: "到我下次出牌前不吃碰杠（能胡时不过）", sound: "声音",
  errors: {
    lost: "服务器没有回应。程序还在运行吗？本页会继续尝试。", restarted: "程序已重新启动：请打开它新打印的网址。", gone: "没有这一场（或已不在）：请开始新的一场。", early: "本场结束后才能保存记录。",
    request: "请求无效。", unknown: "没有这个动作。", illegal: "现在不能这样做。", stale: "这一问已经回答过了：现在是这样。",
    unreviewed: "没有这一场的复盘。", reviewing: "复盘尚未完成。",
    turn: "现在不能这样做：还没轮到你。", answer: "现在不能这样做：正在等你回答。", next: "现在不能这样做：这一局已经结束。",
    over: "现在不能这样做：本场已经结束。", unwritten: "本场记录没能写入文件：请保存记录。",
  },
  thinking: "其他人在打……",
  written: (file, match) => `这是 ${file} 中的第 ${match} 场。`, unwritten: "先保存记录，再在同一文件夹中运行：",
  reviewThis: "复盘这一场", openReview: "打开复盘", reviewing: (done, of) => (of ? `复盘中：${of} 个选择已完成 ${done} 个` : "复盘开始……"),
  look: "逐步回看：", review: "复盘，看你的每个选择值多少：",
  keys: "按键：← → 选择，回车 确定；W 胡，P 碰，C 吃，K 杠，1 2 3 选其中之一，X 过，H 提示，N 下一局，空格 加快。",
});

let game = "";
let state = null; // what the server said last
let shown = null; // the frame on the table
let logged = []; // the frames of this hand
let hinted = null;
let complaint = null;
let busy = false; // nothing is accepted now
let hurry = null;
let thrownFrom = null; // where the tile was that has been clicked
let lifted = null; // the tile that a finger has touched once
let pointer = matchMedia("(pointer: coarse)").matches ? "touch" : "mouse"; // what was used last
let grace = 250; // milliseconds for which a question accepts nothing: what is on its way was meant for the one before
const chosen = { pace: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1, passes: false, noClaims: false, sound: false,
  ...remembered("play") };
chosen.noClaims = false; // of one turn
const PACES = [0, 350, 1000]; // milliseconds between two events
const [TURN, OPENING, STRANDED] = [1, 4, 5]; // mahjong_env.state.arrays.Phase

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try { answer = await fetch(path, options); } catch (error) { throw Object.assign(new Error("no answer", { cause: error }), { code: "lost" }); }
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), { code: answer.status === 404 && told.code === "request" ? "restarted" : told.code });
  return told;
}

function complain(error) {
  complaint = error;
  const text = error ? say().errors[error.code] : "";
  $("error").textContent = text ?? error.message;
  if (text === undefined) $("error").lang = "en"; // the program's own words
  else $("error").removeAttribute("lang");
}

function draw(frame) {
  shown = frame;
  const table = frame.table;
  document.documentElement.lang = language === "en" ? "en" : "zh";
  facts(table);
  lay(frame);
  reasons(frame);
}

function questionText(table) {
  const offered = table.offered[0];
  const mayWin = state.legal.includes("win") ? say().mayWin : "";
  if (state.phase === TURN) {
    const own = table.places[0];
    return [own.drawn === null ? "" : say().drew(tileName(own.drawn)), mayWin, say().turn].filter(Boolean).join(" ");
  }
  if (state.phase === STRANDED) return say().stranded;
  if (state.phase === OPENING || offered < 0) return say().opening;
  return [mayWin, (table.is_robbed ? say().rob : say().claim)(tileName(offered))].filter(Boolean).join(" ");
}

function told(frame) {
  if (frame.event.type === "asked") return questionText(frame.table);
  return eventText(frame.event);
}

// --- what can be clicked ------------------------------------------------------------------------------------------
// A double click is one click, and a finger first lifts a tile, so that nothing is played that was not meant.
function clickable(name, children, about, extra = "") {
  const button = make("button", { type: "button", class: `choice ${extra}`, "data-action": name, "aria-label": about }, ...children);
  button.addEventListener("click", (event) => {
    if (busy) return;
    thrownFrom = button.getBoundingClientRect();
    const isFinger = pointer === "touch" && event.detail && button.classList.contains("tile");
    if (isFinger && lifted !== button) lift(button);
    else if (isFinger || event.detail < 2) answer(name);
  });
  return button;
}

function lift(button) {
  lifted?.classList.remove("lifted");
  lifted = button;
  if (!button) return;
  button.classList.add("lifted");
  $("event").textContent = say().lifted(tileName(Number(button.dataset.kind)));
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
    button.dataset.kind = kind;
    span.replaceWith(button);
  }
}

// What may be done beside discarding, a win first; where there are several of a kind each has a number, and its key.
function actions() {
  const box = $("ask");
  box.replaceChildren();
  if (state.waitsFor === "answer") {
    const names = state.legal.filter((one) => !one.startsWith("discard "));
    names.sort((one, other) => (other === "win") - (one === "win"));
    for (const name of names) {
      const button = clickable(name, [actionDrawn(name, shown.table)], actionText(name, shown.table), name === "win" ? "win" : "");
      const alike = likewise(name);
      if (alike.length > 1) button.prepend(make("kbd", {}, String(alike.indexOf(name) + 1)));
      box.append(button);
    }
    box.append(simple("hint", say().hint, hint));
  } else if (state.waitsFor === "next") {
    box.append(simple("next", say().next, next));
  } else {
    box.append(make("p", {}, say().over), simple("again", say().again, begin));
    if (data.lobby) box.append(simple("other", say().other, enterLobby));
    const link = make("a", { href: `games/${game}/record`, download: "match.jsonl", id: "save" }, say().save);
    box.append(link, make("span", { id: "review-part" }));
    reviewPart();
    afterwards();
  }
}

// The actions that one key stands for: all chows, all kongs.
function likewise(name) {
  const verb = Object.values(KEYS).find((one) => name.includes(one));
  return state.legal.filter((one) => !one.startsWith("discard ") && one.includes(verb));
}

function simple(id, text, action) {
  const button = make("button", { type: "button", id }, text);
  button.addEventListener("click", (event) => { if (event.detail < 2) action(); });
  return button;
}

// The review of a match that is over: a button that begins it, how far it is, and the way to it.
function reviewPart() {
  const { review, canReview } = state;
  const box = $("review-part");
  const hadFocus = box.contains(document.activeElement);
  if (!canReview) return;
  if (review?.isReady) box.replaceChildren(make("a", { id: "to-review", href: `games/${game}/review/page` }, say().openReview));
  else if (review && !review.error) {
    const text = say().reviewing(review.done, review.of);
    box.replaceChildren(make("progress", { max: review.of || 1, value: review.done, "aria-label": text, tabindex: "-1" }), ` ${text}`);
  } else box.replaceChildren(simple("make-review", say().reviewThis, makeReview));
  if (hadFocus) box.firstElementChild.focus();
}

function makeReview() {
  return once(async () => {
    state.review = await ask(`games/${game}/review`, {});
    reviewPart();
    followReview();
  });
}

async function followReview() {
  const followed = state;
  while (followed.review && !followed.review.isReady && !followed.review.error) {
    await later(400);
    if (state !== followed) return;
    try { followed.review = await ask(`games/${game}/review`); } catch (error) { complain(error); continue; }
    if (state !== followed) return;
    complain(followed.review.error && { message: followed.review.error });
    reviewPart();
  }
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
const later = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

function pause() {
  if (!PACES[chosen.pace]) return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(done, PACES[chosen.pace]);
    hurry = () => { clearTimeout(timer); done(); };
  });
}

async function play(told) {
  await tell(told);
  while (isPassed()) await tell(await ask(`games/${game}/answer`, { position: state.position, action: "pass" }));
  settle(true);
  await later(grace);
}

function isPassed() {
  return (chosen.passes || chosen.noClaims) && state.legal.includes("pass") && !state.legal.includes("win");
}

async function tell(newState) {
  if (newState.phase === TURN && newState.position !== state?.position) chosen.noClaims = false;
  state = newState;
  hinted = null;
  lift(null);
  document.title = `mahjong_env: ${titleText()}`;
  $("hints").replaceChildren();
  $("ask").replaceChildren(make("p", {}, say().thinking));
  const frames = state.frames;
  for (const [i, frame] of frames.entries()) {
    draw(frame);
    if (PACES[chosen.pace]) slide(frame.event, frame.event.person === data.person ? thrownFrom : null);
    log(frame);
    if (frame.event.type === "discard") sound(330);
    const next = frames[i + 1];
    if (next && next.event.type !== "asked") await pause();
    else if (next) { // the question stands beside what has led to it
      draw(next);
      if (PACES[chosen.pace]) slide(frame.event, frame.event.person === data.person ? thrownFrom : null);
      log(next);
      headline(frame, next);
      reasons(next.paid ? next : frame); // a kong that stood is paid when the question comes
      break;
    }
  }
}

// What has happened, one line for each event of this hand, and beside the buttons the last one.
function log(frame) {
  if (frame.event.type === "start") { logged = []; $("log").replaceChildren(); }
  logged.push(frame);
  write(frame);
}

function write(frame) {
  const [lines, text] = [$("log"), told(frame)];
  $("event").textContent = text;
  // A hidden kong may follow another; what else is said twice is what was sent twice.
  if (lines.lastChild?.textContent === text && frame.event.type !== "concealed kong") return;
  lines.append(make("p", frame.event.type === "asked" ? { class: "asked" } : {}, text));
  lines.scrollTop = lines.scrollHeight;
}

// The question stands beside what has led to it.
function headline(frame, asked) {
  $("event").textContent = `${frame.event.type === "asked" ? "" : told(frame)} ${told(asked)}`;
}

// The last frame, with everything that can be clicked.
function settle(takeFocus) {
  hurry = null;
  if (state.waitsFor === "answer") discards();
  actions();
  points();
  if (takeFocus && state.review) followReview();
  checkBoxes();
  if (!takeFocus) return;
  if (state.waitsFor === "answer") {
    document.title = `● ${say().yourTurn}: ${titleText()}`;
    sound(520);
  }
  $("ask").scrollIntoView({ block: "nearest" });
  if (pointer === "touch") return; // what has focus looks chosen
  const own = document.querySelector("#ask .win") || document.querySelector("#table .own .hand button.drawn")
    || document.querySelector('#ask [data-action="pass"]') || document.querySelector("#table .own .hand button") || document.querySelector("#ask button");
  if (own) own.focus({ preventScroll: true });
}

function checkBoxes() {
  for (const box of document.querySelectorAll("#settings input")) box.checked = chosen[box.id];
}

let speaker = null;
function sound(pitch) {
  if (!chosen.sound || !(navigator.userActivation?.hasBeenActive ?? true)) return; // browsers allow none before a click
  speaker ??= new AudioContext();
  const [tone, volume, now] = [speaker.createOscillator(), speaker.createGain(), speaker.currentTime];
  tone.frequency.value = pitch;
  volume.gain.setValueAtTime(0.15, now);
  volume.gain.exponentialRampToValueAtTime(0.001, now + 0.09);
  tone.connect(volume).connect(speaker.destination);
  tone.start(now);
  tone.stop(now + 0.1);
}

// One thing at a time; meanwhile nothing is accepted.
async function once(action) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  complain(null);
  try { await action(); } catch (error) { await recover(error); }
  document.body.removeAttribute("aria-busy");
  busy = false;
}

// After an error the page shows what the server has: at once where another tab has played on, else when it answers again.
async function recover(error) {
  complain(error);
  const isLost = () => complaint.code === "lost";
  if (!game || !(isLost() || ["stale", "turn", "answer", "next", "over", "unwritten"].includes(error.code))) return;
  for (let wait = isLost() ? 1000 : 0; ; wait = Math.min(wait * 2, 8000) || 1000) {
    await later(wait);
    try {
      const told = await ask(`games/${game}`);
      if (isLost()) complain(null);
      await open(told);
      return;
    } catch (again) {
      complain(again);
      if (!isLost()) return;
    }
  }
}

// A tab that has been away shows the present.
document.addEventListener("visibilitychange", () => {
  if (document.hidden || busy || !game) return;
  once(async () => {
    const told = await ask(`games/${game}`);
    if (told.position !== state.position) await open(told);
  });
});

function answer(name) {
  return once(async () => play(await ask(`games/${game}/answer`, { position: state.position, action: name })));
}

function next() {
  return once(async () => play(await ask(`games/${game}/next`, { position: state.position })));
}

function begin() {
  return once(async () => {
    const answer = await ask("games", data.lobby ? wanted : {});
    leaveLobby();
    await open(answer);
  });
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
  if (hinted.win) box.append(make("h3", {}, say().winNow(hinted.win.value)), worth(hinted.win, shown.table.wild));
  if (hinted.advice) box.append(make("h3", {}, `${say().would(agentText(hinted.agent))} ${actionText(hinted.advice, shown.table)}`));
  const isAdvised = (one) => one.action === hinted.advice;
  const rows = [...hinted.prospects].sort((one, other) => isAdvised(other) - isAdvised(one)).map((one) => {
    const helps = make("div", { class: "tiles" }, ...one.helps.map(([kind, count]) =>
      make("span", {}, tile(kind, shown.table.wild), ` ×${count}`)));
    const choice = make("td", {}, actionDrawn(one.action, shown.table), ...(isAdvised(one) ? [make("span", { class: "faint" }, ` ← ${agentText(hinted.agent)}`)] : []));
    if (one.then) choice.append(make("span", { class: "action" }, make("span", { class: "word" }, say().afterwards), actionDrawn(one.then, shown.table)));
    const away = one.distance ? String(one.distance) : say().waits;
    return make("tr", isAdvised(one) ? { class: "chosen" } : {}, choice, make("td", { class: "number" }, away), make("td", { class: "number" }, one.tiles),
      make("td", {}, helps));
  });
  const listed = (some) => make("table", {}, headings(say().choice, say().away, say().count, say().helps), make("tbody", {}, ...some));
  if (rows.length) box.append(listed(rows.slice(0, 5)));
  if (rows.length > 5) box.append(make("details", {}, make("summary", {}, say().others(rows.length - 5)), listed(rows.slice(5))));
  for (const one of document.querySelectorAll(`[data-action="${hinted.advice ?? hinted.prospects[0]?.action}"]`)) one.classList.add("best");
  box.scrollIntoView({ block: "nearest" });
}

// --- keys, settings, start ----------------------------------------------------------------------------------------
function walk(step) {
  const all = [...document.querySelectorAll("#table .own .hand button, #ask button, #ask a")];
  const now = all.indexOf(document.activeElement);
  if (all.length) all[now < 0 ? 0 : (now + step + all.length) % all.length].focus();
}

const KEYS = { w: "win", p: "pung", c: "chow", k: "kong", x: "pass" };

document.addEventListener("pointerdown", (event) => { pointer = event.pointerType; }, true);
for (const type of ["keydown", "keyup"]) {
  document.addEventListener(type, (event) => { // Space hurries, and plays nothing; other buttons and boxes have it as ever
    if (event.key !== " " || (event.target !== document.body && !event.target.closest("#ask, #table .own .hand button"))) return;
    event.preventDefault();
    if (type === "keydown" && hurry) hurry();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || event.target.closest("form, select")) return;
  pointer = "keyboard";
  if (event.repeat && event.key === "Enter") event.preventDefault();
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") { event.preventDefault(); walk(event.key === "ArrowRight" ? 1 : -1); return; }
  if (event.repeat || busy || !state) return;
  const key = event.key.toLowerCase();
  if (key === "h" && $("hint")) hint();
  else if (key === "n" && $("next")) next();
  else if (state.waitsFor === "answer" && key in KEYS) {
    const fitting = state.legal.filter((name) => !name.startsWith("discard ") && name.includes(KEYS[key]));
    if (fitting.length === 1) answer(fitting[0]);
    if (fitting.length < 2) return;
    $("event").textContent = say().which;
    document.querySelector(`#ask [data-action="${fitting[0]}"]`).focus();
  } else if (/^[1-9]$/.test(key)) {
    const meant = [...document.querySelectorAll("#ask kbd")].find((one) => one.textContent === key);
    if (meant) answer(meant.parentElement.dataset.action);
  }
});

function label() {
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say()[element.dataset.say];
  $("language").lang = language === "en" ? "zh" : "en"; // the other one's name
  $("pace").replaceChildren(...say().paces.map((text, i) => make("option", { value: String(i) }, text)));
  $("pace").value = String(chosen.pace);
}

function set(name, value) {
  chosen[name] = value;
  remember("play", chosen);
  if (busy || !state || !["passes", "noClaims"].includes(name) || !isPassed()) return;
  answer("pass");
}

$("pace").addEventListener("change", (event) => set("pace", Number(event.target.value)));
for (const box of document.querySelectorAll("#settings input")) box.addEventListener("change", () => set(box.id, box.checked));
$("open-settings").addEventListener("click", () => { checkBoxes(); $("settings").showModal(); });
$("open-rules").addEventListener("click", async () => {
  try { $("rules").lastElementChild.replaceChildren(...markdown((await ask(`games/${game}/rules`, { language })).page)); } catch (error) { complain(error); return; }
  $("rules").showModal();
});
$("open-lobby").addEventListener("click", () => { if (!busy) enterLobby(); });
$("open-lobby").hidden = !data.lobby;
for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
$("language").addEventListener("click", () => {
  switchLanguage();
  label();
  complain(complaint);
  if (isChoosing()) { drawLobby(); look(); }
  if (!shown || busy || isChoosing()) return;
  draw(shown);
  $("log").replaceChildren();
  for (const frame of logged) if (frame.event.type !== "asked" || frame === logged.at(-1)) write(frame);
  if (logged.length > 1 && shown.event.type === "asked") headline(...logged.slice(-2));
  settle(false);
  showHint();
});
label();
let played; // a review leads to where a match is played on, after so many actions
[game, played] = location.hash.slice(1).split(",");
once(async () => {
  if (game) {
    try { await open(await (played === undefined ? ask(`games/${game}`) : ask(`games/${game}/on`, { played: Number(played) }))); return; } catch { game = ""; } // the program was started anew
  }
  if (data.lobby) { enterLobby(); return; }
  await open(await ask("games", {}));
});
