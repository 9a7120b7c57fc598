"use strict";
// Shows the frames of one recorded match; `table.js` draws them.
const frames = data.frames;
let at = 0;
let timer = null;

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

const signed = (points) => `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(2)}`;
const share = (part) => [make("span", { class: "bar", style: `width:${Math.max(1, part * 120)}px` }), ` ${(part * 100).toFixed(1)} %`];
const promised = (points) => [signed(points)];
function interval([low, mean, high]) {
  const clear = low > 0 ? " better" : high < 0 ? " worse" : "";
  return [make("span", { class: `found${clear}` }, signed(mean)), ` [${signed(low)}, ${signed(high)}]`];
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
    path.style.stroke = colour;
    path.setAttribute("stroke-width", width);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    svg.append(path);
  };
  const colours = [0, 1, 2, 3].map((i) => `var(--line${i})`);
  const legend = make("p", {});
  for (let i = 0; i < data.people; i += 1) {
    line(all.map((held, j) => `${x(j)},${y(held[i])}`).join(" "), colours[i], 2.5);
    legend.append(make("span", { style: `color:${colours[i]}`, class: "one" }, `■ ${person(i)} ${frames[at].points[i]}`));
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
  facts(table, ...Object.entries(data.knobs).map(([name, value]) => `${name}=${value}`));
  $("event").textContent = eventText(frame.event);
  lay(frame, first);
  $("slider").max = frames.length - 1;
  $("slider").value = at;
  $("slider").setAttribute("aria-valuetext", eventText(frame.event));
  $("place").textContent = `${at + 1} / ${frames.length}`;
  reasons(frame);
  thought(frame);
  chart();
}

// What others keep to themselves is not a step for somebody who sees one hand: that they passed.
function isSeen(frame) {
  return view === "all" || frame.event.type !== "pass" || frame.event.person === Number(view);
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

function label() {
  for (const button of document.querySelectorAll("[data-step]")) button.textContent = say()[button.dataset.step];
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say()[element.dataset.say];
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
$("language").addEventListener("click", () => { switchLanguage(); label(); show(at); });
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
