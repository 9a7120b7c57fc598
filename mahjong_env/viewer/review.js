"use strict";
// What every choice of a match was worth. An answer stays hidden until it is asked for, or until somebody has tried.
Object.assign(words.en, {
  reviewOf: (who) => (who === "you" ? "Your choices" : `The choices of ${who}`),
  agreement: (best, all, mistakes) => `In ${all - mistakes} of ${all} choices (${Math.round((1 - mistakes / all) * 100)} %) nothing was clearly better, and ${best} of them came out best. ${mistakes === 1 ? "1 mistake" : `${mistakes} mistakes`}.`,
  lostAll: "Points lost to the review's own choices", worst: "What cost most", byHand: "Hand by hand", mistakes: "mistakes", lost: "lost", result: "result",
  results: { won: "won", gave: "dealt in", drawn: "drawn", other: "lost", out: "sat out" }, askFirst: "Ask me first",
  found: (right, all) => `Your answers: ${right} of ${all} are the best.`,
  method: "How this is found",
  about: (worlds, agents, hindsight) => `Every possible action is played on the same ${worlds} worlds, ${hindsight ? "with the true hidden tiles" : "which agree with what could be seen"}, and then all seats are played by ${agents} to the end of the hand. An interval in brackets holds in 95 of 100 cases, whichever action is the best. A mistake is a choice whose interval lies below 0. For the sum of points lost, half of the worlds choose and the other half measure.`,
  where: (hand, turn) => `hand ${hand}, turn ${turn}`, whatDiscard: "What would you discard?", whatDo: "What would you do?",
  answer: "Show the answer", playOn: "Play on from here", toTable: "Back to the table", chose: (who, what) => `${who === "you" ? "You" : who} chose: ${what}.`,
  would: (who, what) => `${who} would choose: ${what}.`,
  isBest: (by) => `That is the best, by ${by} points.`, better: (what, by) => `Better: ${what}, by ${by} points.`,
  unclear: "Too close to tell.", tried: (what, by) => `Your answer, ${what}: ${by} points against the best of the others.`, right: (what) => `Your answer, ${what}, is the best.`,
  against: "points against the best other", winsOften: "wins", dealsIn: "deals in", expectedPoints: "Expected points of each hand",
  dots: "Dots are mistakes; click to go there.",
  steps: { ...words.en.steps, mistake: "Mistake", choice: "Choice" },
  keys: "Keys: Page Up, Page Down mistakes, ↑ ↓ choices, Home End hands, ← → steps, S shows the answer, Space plays, 0-3 a seat's view, A all hands open. Swipe on a phone.",
});
Object.assign(words.zh, {
  reviewOf: (who) => `${who}的选择`,
  agreement: (best, all, mistakes) => `${all} 个选择中有 ${all - mistakes} 个（${Math.round((1 - mistakes / all) * 100)}%）没有明显更好的，其中 ${best} 个得分最高；失误 ${mistakes} 个。`,
  lostAll: "比复盘的选择少得的分数", worst: "损失最大的选择", byHand: "逐局", mistakes: "失误", lost: "损失", result: "结果",
  results: { won: "胡", gave: "点炮", drawn: "流局", other: "别人胡", out: "轮空" }, askFirst: "先问我",
  found: (right, all) => `你的回答：${all} 个中 ${right} 个最佳。`,
  method: "如何得出",
  about: (worlds, agents, hindsight) => `每个可行的动作都在同样的 ${worlds} 个牌局上打出（${hindsight ? "暗牌为真实的牌" : "暗牌与当时所见相符"}），之后四家由${agents}打到本局结束。方括号是区间：无论哪个动作最佳，100 次中有 95 次成立；区间全在 0 以下的选择算失误。损失总分由一半牌局选择、另一半计量。`,
  where: (hand, turn) => `第 ${hand} 局第 ${turn} 巡`, whatDiscard: "你会打哪张？", whatDo: "你会怎么做？",
  answer: "看答案", playOn: "从这里打下去", toTable: "回到牌桌", chose: (who, what) => `${who}选择：${what}。`, would: (who, what) => `${who}会选择：${what}。`,
  isBest: (by) => `这是最佳选择，多 ${by} 分。`, better: (what, by) => `更好：${what}，多 ${by} 分。`,
  unclear: "差距不明显。", tried: (what, by) => `你的回答，${what}：比其他最佳动作 ${by} 分。`, right: (what) => `你的回答，${what}，是最佳选择。`,
  against: "比其他最佳动作的分数", winsOften: "胡", dealsIn: "点炮", expectedPoints: "每局的期望分数",
  dots: "圆点是失误，点击即到。",
  steps: { ...words.zh.steps, mistake: "失误", choice: "选择" },
  keys: "按键：Page Up、Page Down 失误，↑ ↓ 选择，Home End 局，← → 步，S 看答案，空格 播放，0-3 某家视角，A 全部明牌。手机上可滑动。",
});

const review = data.review; // as mahjong_training.analysis.review_report.review_told tells it
const reviewed = Object.keys(review.lost).map(Number);
let who = reviewed.includes(data.person) ? data.person : reviewed[0];
unasked = String(who);
const playedBefore = []; // [frames] actions
for (const { event } of frames) playedBefore.push((playedBefore.at(-1) ?? 0) + (event.type !== "start"));
for (const choice of review.choices) {
  choice.frame = playedBefore.lastIndexOf(choice.at);
  choice.hand = beginnings.filter((i) => i <= choice.frame).length - 1;
  choice.turn = 1 + frames.slice(beginnings[choice.hand], choice.frame + 1).filter(({ event }) => event.type === "discard" && event.person === choice.person).length;
}
for (const { note } of frames) if (note) delete note.intervals; // the choices have theirs
const own = () => review.choices.filter((choice) => choice.person === who);
const isBest = (choice) => choice.cost[1] <= 0;
const isMistake = (choice) => choice.cost[0] > 0;
const here = () => (view === "all" || Number(view) === who ? own().find((choice) => choice.frame === at) : undefined);
const where = (choice) => say().where(frames[choice.frame].table.hand_number, choice.turn);
const lineOf = (choice, action) => choice.lines.find(([name]) => name === action);
const told = (name, choice) => actionText(name, frames[choice.frame].table);

let asksFirst = remembered("review") ?? true;
const answers = new Map(); // what has been tried at a choice, by its frame; null: the answer was asked for
const isHidden = (choice) => asksFirst && !answers.has(choice.frame);

const round = (points) => signed(points, Math.abs(points) < 100 ? 1 : 0);
const bracket = ([low, mean, high], shown = round) => (low === null ? shown(mean) : `${shown(mean)} [${shown(low)}, ${shown(high)}]`);
const lost = (points) => round(points).replace("+", ""); // what is lost needs no sign
const percent = (share) => `${(share * 100).toFixed(share > 0 && share < 0.095 ? 1 : 0)} %`;

function why(coded) {
  const lang = language === "en" ? 0 : 1;
  return coded.map(([pattern, end, ...numbers]) => {
    const parts = [review.ends[end][lang], ...numbers];
    return review.patterns[pattern][lang].replace(/\{\}/g, () => parts.shift());
  }).join(lang ? "，" : ", ");
}

// --- The summary ---------------------------------------------------------------------------------------------------
const summary = make("details", { id: "summary", open: "" });
const side = $("side");
side.prepend(summary, $("chart"));
$("reasons").before($("thought"));
$("thought").setAttribute("aria-live", "polite");
$("thought").tabIndex = -1;

// What may be wider than its place scrolls within, by keys too.
const wide = (name, table) => make("div", { class: "wide", role: "region", tabindex: "0", "aria-label": name }, table);

function goes(text, to, attributes = {}) {
  const button = make("button", { type: "button", ...attributes }, ...text);
  button.addEventListener("click", () => show(to));
  return button;
}

function summarise() {
  const choices = own();
  const [best, mistakes] = [choices.filter(isBest).length, choices.filter(isMistake).length];
  const tried = [...answers].filter(([, name]) => name);
  const right = tried.filter(([frame, name]) => choices.find((choice) => choice.frame === frame)?.lines[0][0] === name).length;
  const worst = choices.filter((choice) => !isBest(choice)).sort((one, other) => isMistake(other) - isMistake(one) || other.cost[1] - one.cost[1]).slice(0, 3);
  const box = make("input", { type: "checkbox", id: "ask-first" });
  box.checked = asksFirst;
  box.addEventListener("change", () => { asksFirst = box.checked; remember("review", asksFirst); show(at); });
  const worlds = [...new Set(review.worlds)].join("–");
  const open = (id) => ($(id)?.open ? { id, open: "" } : { id });
  summary.replaceChildren(make("summary", {}, say().reviewOf(person(who))),
    make("p", {}, say().agreement(best, choices.length, mistakes)),
    make("p", {}, `${say().lostAll}: `, make("b", {}, bracket(review.lost[who], lost))),
    ...(worst.length ? [make("h3", {}, say().worst), make("ol", {}, ...worst.map((choice) => make("li", {}, goes([
      `${where(choice)}: `, actionDrawn(choice.taken, frames[choice.frame].table), ` ${bracket(lineOf(choice, choice.taken)[2])}`], choice.frame))))] : []),
    ...(tried.length ? [make("p", { id: "answered" }, say().found(right, tried.length))] : []),
    make("label", {}, box, ` ${say().askFirst}`), ...(review.playOn ? [make("a", { id: "to-table", href: review.playOn.slice(0, -1) }, say().toTable)] : []),
    make("details", open("by-hand"), make("summary", {}, say().byHand), byHand()),
    make("details", open("method"), make("summary", {}, say().method),
      make("p", {}, say().about(worlds, [...new Set(review.agents)].map(agentText).join(", "), review.hindsight))));
}

function byHand() {
  const rows = beginnings.map((first, hand) => {
    const last = (beginnings[hand + 1] ?? frames.length) - 1;
    const { event, points, table } = frames[last];
    const satOut = table.sits_out.some(([name]) => personOf(name) === who);
    const choices = own().filter((choice) => choice.hand === hand);
    const result = event.type !== "end" ? "" : say().results[satOut ? "out" : event.winner === who ? "won" : event.winner < 0 ? "drawn" : event.from === who ? "gave" : "other"];
    const row = cells("", result, points[who] - frames[first].points[who], choices.filter(isMistake).length, "");
    row.firstChild.append(goes([say().hand(frames[first].table.hand_number)], first));
    row.lastChild.className = "number";
    row.lastChild.append(lost(choices.reduce((sum, choice) => sum + choice.gain, 0)));
    return row;
  });
  return wide(say().byHand, make("table", {}, headings("", say().result, say().points, say().mistakes, say().lost), make("tbody", {}, ...rows)));
}

// --- A choice: the values stand above the tiles, what else may be done beside the question -------------------------
const options = make("div", { id: "options" });
document.querySelector("#asking nav").before(options);

function answer(choice, name) {
  answers.set(choice.frame, name);
  show(at);
  $("thought").focus({ preventScroll: true });
}

// How good an action is among those of its choice, 1 for the best: the root shows what differs little.
function part(choice, line) {
  const [best, worst] = [choice.lines[0][1], choice.lines.at(-1)[1]];
  return 1 - 0.94 * Math.sqrt((best - line[1]) / Math.max(best - worst, 1e-9));
}

function marks(choice, line) {
  const tried = answers.get(choice.frame);
  return [line === choice.lines[0] && "top", line[0] === choice.taken && "played", line[0] === tried && "tried"].filter(Boolean);
}

const valueOf = (choice, line) => make("span", { class: "value", style: `--part: ${part(choice, line).toFixed(3)}` },
  make("b", {}, line === choice.lines[0] ? "★" : make("span", { class: "less" }, round(line[2][1]))));

function overTiles(choice) {
  for (const one of document.querySelectorAll(`#table [data-person="${who}"] .hand .tile`)) {
    const line = lineOf(choice, `discard ${data.kindNames[Number(one.dataset.kind)]}`);
    if (!line) continue;
    if (!isHidden(choice)) {
      one.classList.add(...marks(choice, line));
      one.append(valueOf(choice, line));
      continue;
    }
    const button = make("button", { type: "button", class: one.className, "data-kind": one.dataset.kind, "aria-label": told(line[0], choice), title: one.title }, ...one.childNodes);
    button.addEventListener("click", () => answer(choice, line[0]));
    one.replaceWith(button);
  }
}

function besideTiles(choice) {
  const table = frames[at].table;
  const others = choice.lines.filter(([name]) => !name.startsWith("discard "));
  const discards = others.length < choice.lines.length;
  options.append(make("p", {}, isHidden(choice) ? `${where(choice)}: ${discards ? say().whatDiscard : say().whatDo}` : where(choice)));
  for (const line of [...others].sort((one, other) => one[0].localeCompare(other[0]))) {
    const button = make(isHidden(choice) ? "button" : "span", { class: ["option", ...(isHidden(choice) ? [] : marks(choice, line))].join(" "), "data-action": line[0] }, actionDrawn(line[0], table));
    if (isHidden(choice)) button.addEventListener("click", () => answer(choice, line[0]));
    else button.append(valueOf(choice, line));
    options.append(button);
  }
  if (!isHidden(choice)) return;
  const button = make("button", { type: "button", id: "answer" }, say().answer);
  button.addEventListener("click", () => answer(choice, null));
  options.append(button);
}

function verdict(choice) {
  const [best, taken, tried] = [choice.lines[0], lineOf(choice, choice.taken), answers.get(choice.frame)];
  const [low, mean, high] = choice.cost;
  const parts = [choice.isPlayed ? say().chose(person(who), told(choice.taken, choice)) : say().would(person(who), told(choice.taken, choice))];
  if (choice.lines.length > 1) parts.push(best === taken ? say().isBest(bracket(taken[2], lost)) : say().better(told(best[0], choice), bracket([low, mean, high], lost)));
  if (low <= 0 && best !== taken) parts.push(say().unclear);
  if (tried === best[0]) parts.push(say().right(told(tried, choice)));
  else if (tried && tried !== choice.taken) parts.push(say().tried(told(tried, choice), bracket(lineOf(choice, tried)[2])));
  const space = language === "en" ? " " : "";
  return [make("p", {}, parts.join(space)), make("p", { class: "faint" }, `${told(best[0], choice)}: ${why(choice.why)}`)];
}

function judged(choice) {
  const { table } = frames[at];
  const rows = choice.lines.map((line) => make("tr", { class: marks(choice, line).join(" ") }, make("td", {}, actionDrawn(line[0], table)),
    make("td", { class: `number ${line[2][0] > 0 ? "better" : line[2][2] !== null && line[2][2] < 0 ? "worse" : ""}` }, bracket(line[2])),
    make("td", { class: "number" }, percent(line[3])), make("td", { class: "number" }, percent(line[4]))));
  return wide(where(choice), make("table", { class: "judged" }, headings("", say().against, say().winsOften, say().dealsIn), make("tbody", {}, ...rows)));
}

function playOn() {
  if (playedBefore[at] >= playedBefore.at(-1)) return [];
  if (review.playOn) return [make("a", { id: "play-on", href: `${review.playOn}${playedBefore[at]}` }, say().playOn)];
  if (!review.command) return [];
  return [make("details", { id: "play-on" }, make("summary", {}, say().playOn), make("code", {}, `${review.command} --seat ${who} --at ${playedBefore[at]}`))];
}

const isNarrow = matchMedia("(max-width: 900px), (max-width: 1000px) and (max-height: 500px)");
if (isNarrow.matches && location.hash) summary.open = false; // somebody was led to a position
let before = null;
let hasMoved = false;
shownWith.push(() => {
  if (view !== "all" && reviewed.includes(Number(view))) who = Number(view);
  summarise();
  if (before !== null && before !== at && (!hasMoved || isNarrow.matches)) { summary.open = false; hasMoved = true; } // room for what is read now
  before = at;
  const choice = here();
  options.replaceChildren();
  if (choice) {
    overTiles(choice);
    besideTiles(choice);
    const panel = isHidden(choice) ? [] : [make("h3", {}, where(choice)), ...verdict(choice), judged(choice), ...$("thought").childNodes];
    $("thought").replaceChildren(...panel);
  }
  options.append(...playOn());
});

// --- The chart: what the hand was expected to bring, choice by choice, and what it brought; mistakes are dots ------
drawChart = () => {
  const box = $("chart");
  box.replaceChildren();
  if (own().length < 2) return;
  box.append(make("h3", {}, say().expectedPoints), make("p", { class: "faint" }, say().dots));
  const since = (choice) => frames[choice.frame].points[who] - frames[beginnings[choice.hand]].points[who];
  const height = (choice, line) => line[1] + since(choice);
  const lines = beginnings.map((first, hand) => {
    const last = (beginnings[hand + 1] ?? frames.length) - 1;
    const points = own().filter((choice) => choice.hand === hand).map((choice) => [choice.frame, height(choice, lineOf(choice, choice.taken))]);
    if (frames[last].event.type === "end") points.push([last, frames[last].points[who] - frames[first].points[who]]);
    return { points, colour: "var(--accent)" };
  });
  const dots = own().filter(isMistake).map((choice) => ({ point: [choice.frame, height(choice, lineOf(choice, choice.taken))],
    radius: Math.min(3 + Math.sqrt(choice.cost[1]), 9), title: `${where(choice)}: ${told(choice.taken, choice)} ${round(-choice.cost[1])}` }));
  plot(box, `${say().expectedPoints}: ${say().steps.mistake} ${dots.length}`, lines, dots, {
    squeeze: (value) => Math.sign(value) * Math.sqrt(Math.abs(value)),
    snap: (i) => own().reduce((nearest, { frame }) => (Math.abs(frame - i) < Math.abs(nearest - i) ? frame : nearest), Infinity),
  });
};

const among = (some) => (way) => (way < 0 ? some().findLast(({ frame }) => frame < at) : some().find(({ frame }) => frame > at))?.frame ?? at;
WAYS.unshift(["mistake", among(() => own().filter(isMistake)), ["PageUp", "PageDown"], show], ["choice", among(own), ["ArrowUp", "ArrowDown"], show]);
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "s" && !event.ctrlKey && !event.metaKey && !event.altKey) $("answer")?.click();
});
document.body.classList.add("reviewing");
