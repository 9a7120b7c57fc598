"use strict";
// Shows the frames of one recorded match; `table.js` draws them, `review.js` adds what every choice was worth.
const frames = data.frames;
for (const [i, frame] of frames.entries()) { // each is sent as what has changed since the one before
  const before = frames[i - 1]?.table;
  if (!before) continue;
  const places = before.places.map((place, slot) => {
    const change = frame.table.places?.[slot];
    return change === undefined ? place : change && { ...place, ...change };
  });
  frame.table = { ...before, ...frame.table, places };
}
const beginnings = [...frames.keys()].filter((i) => frames[i].event.type === "start");
let at = 0;
let timer = null;
const shownWith = []; // what else is drawn with every frame

// What is known of the choices of who acts next: the agent's own numbers, and what a review has found.
function thought(frame) {
  const box = $("thought");
  box.replaceChildren();
  const note = frame.note;
  if (!note || (view !== "all" && Number(view) !== frame.to_act)) return;
  const { probabilities = {}, values = {}, intervals = {} } = note;
  const rank = (name) => probabilities[name] ?? intervals[name]?.[1] ?? values[name] ?? (name === frame.chosen ? 0 : -Infinity);
  const names = [...new Set([...Object.keys(probabilities), ...Object.keys(values), ...Object.keys(intervals), frame.chosen])].filter(Boolean);
  names.sort((one, other) => rank(other) - rank(one));
  box.append(make("h3", {}, say().thought(person(frame.to_act))));
  if (typeof note.value === "number") box.append(make("p", {}, `${say().expected}: ${note.value.toFixed(2)}`));
  const columns = [[probabilities, say().probability, share], [values, say().promised, promised], [intervals, say().more, interval]]
    .filter(([known]) => Object.keys(known).length);
  if (!columns.length) return;
  const rows = names.slice(0, 14).map((name) => {
    const mark = name === frame.chosen ? make("span", { class: "faint" }, ` ← ${say().chosen}`) : "";
    return make("tr", name === frame.chosen ? { class: "chosen" } : {}, make("td", {}, actionDrawn(name, frame.table), mark),
      ...columns.map(([known, , shown]) => make("td", { class: "number" }, ...(name in known && (known !== intervals || name !== frame.chosen) ? shown(known[name]) : []))));
  });
  box.append(make("table", {}, headings("", ...columns.map(([, heading]) => heading)), make("tbody", {}, ...rows)));
}

const signed = (points, decimals = 2) => `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(decimals)}`;
const share = (part) => [make("span", { class: "bar", style: `width:${Math.max(1, part * 120)}px` }), ` ${(part * 100).toFixed(1)} %`];
const promised = (points) => [signed(points)];
function interval([low, mean, high]) {
  const clear = low > 0 ? " better" : high < 0 ? " worse" : "";
  return [make("span", { class: `found${clear}` }, signed(mean)), ` [${signed(low)}, ${signed(high)}]`];
}

// A picture over the match, on which one can click: lines of [frame, value], dots, hands, a scale, and where we are.
function plot(box, label, lines, dots, { squeeze = (value) => value, snap = (i) => i } = {}) {
  const [width, height, left, foot] = [Math.max(box.clientWidth - 24, 240), 150, 34, 16];
  const all = [...lines, ...dots.map((dot) => ({ points: [dot.point] }))].flatMap(({ points }) => points.map(([, value]) => squeeze(value)));
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const x = (i) => left + (i / Math.max(frames.length - 1, 1)) * (width - left - 6);
  const y = (value) => 8 + ((most - squeeze(value)) / Math.max(most - least, 1e-9)) * (height - foot - 16);
  const draw = (name, attributes, text = "") => {
    const one = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    one.append(text);
    return one;
  };
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  for (const tick of ticks(least, most, squeeze)) {
    svg.append(draw("line", { x1: left, x2: width, y1: y(tick), y2: y(tick), class: "grid" }), draw("text", { x: left - 5, y: y(tick) + 4, class: "tick" }, String(tick).replace("-", "−")));
  }
  beginnings.forEach((i, hand) => svg.append(draw("line", { x1: x(i), x2: x(i), y1: 0, y2: height - foot, class: "grid" }),
    draw("text", { x: x(i) + 3, y: height - 3, class: "hand-number" }, String(frames[i].table.hand_number ?? hand + 1))));
  for (const { points, colour } of lines) {
    svg.append(draw("polyline", { points: points.map(([i, value]) => `${x(i)},${y(value)}`).join(" "), fill: "none", "stroke-width": 2.5, style: `stroke:${colour}` }));
  }
  svg.append(draw("line", { x1: x(at), x2: x(at), y1: 0, y2: height - foot, class: "here" }));
  for (const { point: [i, value], radius, title } of dots) {
    const dot = draw("circle", { cx: x(i), cy: y(value), r: radius, class: "dot" });
    dot.append(draw("title", {}, title));
    svg.append(dot);
  }
  svg.addEventListener("click", (event) => {
    const clicked = (event.clientX - svg.getBoundingClientRect().x - x(0)) / (x(frames.length - 1) - x(0));
    show(snap(clicked * (frames.length - 1)));
  });
  box.append(svg);
}

// A few round numbers between two ends, evenly spread on the squeezed scale.
function ticks(least, most, squeeze) {
  const found = [];
  for (const one of [0, ...[...Array(8).keys()].flatMap((power) => [1, 2, 5].flatMap((digit) => [digit * 10 ** power, -digit * 10 ** power]))]) {
    const place = squeeze(one);
    if (place >= least && place <= most && found.every((other) => Math.abs(squeeze(other) - place) > (most - least) / 6)) found.push(one);
  }
  return found;
}

// Points over the match: one line for each person.
function chart() {
  const box = $("chart");
  const people = [...Array(data.people).keys()];
  const held = (i) => `${person(i)} ${frames[at].points[i]}`;
  box.replaceChildren(make("h3", {}, say().points),
    make("p", {}, ...people.map((i) => make("span", { style: `color:var(--line${i})`, class: "one" }, `■ ${held(i)}`))));
  plot(box, `${say().points}: ${people.map(held).join(", ")}`,
    people.map((i) => ({ points: frames.map((frame, j) => [j, frame.points[i]]), colour: `var(--line${i})` })), [], { snap: Math.round });
}
let drawChart = chart;

// What others keep to themselves is not a step for somebody who sees one hand: how they answer before all have answered.
const ANSWERS = ["pass", "chow low", "chow middle", "chow high", "pung", "kong", "win"];
const isTold = ({ event, table }) => view === "all" || event.person === Number(view) || !ANSWERS.includes(event.type)
  || (event.type !== "pass" && table.offered[0] < 0);
const isSeen = (frame) => isTold(frame) || frame.to_act === Number(view);

// The kind of a concealed kong is its owner's secret, where the rules hide it.
const asSeen = (event) => (event.type === "concealed kong" && data.hidesConcealedKongs && view !== "all" && event.person !== Number(view) ? { ...event, tile: -1 } : event);

function show(index) {
  at = Math.max(0, Math.min(frames.length - 1, index));
  const frame = frames[at];
  const table = frame.table;
  const below = Number(view === "all" ? unasked : view); // who sits at the lower edge
  const first = Math.max(0, table.places.findIndex((one) => one && one.person === below));
  let told = at;
  while (told > 0 && !isTold(frames[told])) told -= 1;
  document.documentElement.lang = language === "en" ? "en" : "zh";
  facts(table, ...Object.entries(data.knobs).map(([name, value]) => `${name}=${value}`));
  $("event").textContent = eventText(asSeen(frames[told].event));
  lay(frame, first);
  $("slider").max = frames.length - 1;
  $("slider").value = at;
  $("slider").setAttribute("aria-valuetext", $("event").textContent);
  $("place").textContent = `${at + 1} / ${frames.length}`;
  reasons(frame);
  thought(frame);
  for (const draw of shownWith) draw(frame);
  drawChart();
  try { history.replaceState(null, "", `#${at + 1}${view === unasked ? "" : `,${view}`}`); } catch { /* in a frame of a notebook there is no address */ }
}

function move(step) {
  let next = at + step;
  while (next > 0 && next < frames.length - 1 && !isSeen(frames[next])) next += step;
  show(next);
  if (step > 0) slide(frames[at].event);
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => (at >= frames.length - 1 ? play(false) : move(1)), 900) : null;
  const button = document.querySelector('[data-step="play"]');
  button.setAttribute("aria-pressed", String(on));
  button.textContent = on ? say().pause : say().play;
}

// What one can go to the one before and the next one of: the kind, how, and its keys.
const WAYS = [
  ["hand", (way) => (way < 0 ? beginnings.findLast((i) => i < at) ?? 0 : beginnings.find((i) => i > at) ?? frames.length - 1), ["Home", "End"], show],
  ["step", (way) => way, ["ArrowLeft", "ArrowRight"], move],
];

function label() {
  $("steps").replaceChildren(...WAYS.map(([kind, to, , go]) => {
    const [before, on] = [-1, 1].map((way) => {
      const button = make("button", { type: "button", "data-step": `${kind} ${way}`, "aria-label": `${way < 0 ? say().back : say().on}: ${say().steps[kind]}` }, way < 0 ? "‹" : "›");
      button.addEventListener("click", () => go(to(way)));
      return button;
    });
    return make("span", { class: "pair" }, before, say().steps[kind], on);
  }));
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say()[element.dataset.say];
  $("language").lang = language === "en" ? "zh" : "en"; // the other one's name
  $("slider").setAttribute("aria-label", `${say().on} / ${say().back}`);
  const select = $("view");
  select.replaceChildren(make("option", { value: "all" }, say().all));
  for (let i = 0; i < data.people; i += 1) select.append(make("option", { value: String(i) }, person(i)));
  select.value = view;
  play(timer !== null);
}

function look(seat) {
  view = seat;
  $("view").value = view;
  show(at);
}

document.querySelector('[data-step="play"]').addEventListener("click", () => play(timer === null));
$("slider").addEventListener("input", (event) => show(Number(event.target.value)));
$("view").addEventListener("change", (event) => look(event.target.value));
$("language").addEventListener("click", () => { switchLanguage(); label(); show(at); });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, [type=checkbox]")) return;
  const onButton = event.target.closest("button, a, summary");
  for (const [, to, keys, go] of WAYS) {
    const place = keys.indexOf(event.key);
    if (place >= 0) { event.preventDefault(); go(to(place ? 1 : -1)); return; }
  }
  if (event.key === " " && !onButton) { event.preventDefault(); play(timer === null); }
  const seat = event.key.toLowerCase() === "a" ? "all" : event.key;
  if (seat === "all" || (/^[0-3]$/.test(seat) && Number(seat) < data.people)) look(seat);
});
let touched = null;
$("table").addEventListener("touchstart", (event) => { touched = event.touches[0].clientX; }, { passive: true });
$("table").addEventListener("touchend", (event) => {
  const way = event.changedTouches[0].clientX - touched;
  if (touched !== null && Math.abs(way) > 40) move(way < 0 ? 1 : -1);
  touched = null;
}, { passive: true });
addEventListener("resize", () => drawChart());

// A link may name a frame and a view, and the address follows both: viewer.html#12 or viewer.html#12,3.
let unasked = "all"; // the view that no address names
function follow() {
  const [frame, seat = unasked] = location.hash.slice(1).split(",");
  view = seat === "all" || (/^[0-9]$/.test(seat) && Number(seat) < data.people) ? seat : unasked;
  label();
  show(Math.trunc(Number(frame)) - 1 || 0);
}

function start() {
  addEventListener("hashchange", follow);
  follow();
}
