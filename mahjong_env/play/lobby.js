// The lobby: what is played, against whom, by which house rules; the sheet of rules that follows them.
Object.assign(words.en, {
  lobby: "Lobby", other: "Choose another game", choose: "What do you want to play?", start: "Play", houseRules: "House rules",
  opponents: "Opponents", seat: "Your seat", hands: "Hands",
  seats: ["East", "South", "West", "North"], aside: "Sit out first", values: { True: "yes", False: "no", None: "none" },
  strengths: {
    random: "Beginners: play at random", "closed-greedy": "Careful: claim nothing but a win", greedy: "Hasty: take the shortest way to a win",
    "plan-value": "Thoughtful: look at what a hand is worth", value: "Good: weigh what their plans are worth", folding: "Wary: give a hand up when it grows dangerous",
    policy: "Strong: have learned by playing", search: "Strongest, and slow: play every choice out", reference: "As in the leaderboard: one of the greedy ones",
  },
  whatIs: "What is mahjong?",
  mahjong: [
    "Mahjong is a game like rummy for four players, or three. The tiles have three suits, winds and dragons, and there are four of each tile.",
    "Everybody holds thirteen tiles (in some places sixteen). In your turn you draw one and discard one.",
    "The first player to complete a hand wins: sets of three and a pair, as below. A set is a run in one suit (a chow) or three of a kind (a pung).",
    "You can claim the tile that somebody has just discarded: the next player for a chow, anybody for a pung or a win.",
    "What a hand is worth, and which hands may win at all, differs from city to city. These differences make the variants.",
  ],
});
Object.assign(words.zh, {
  lobby: "大厅", other: "换一种玩法", choose: "想打哪一种？", start: "开始", houseRules: "本桌规则",
  opponents: "对手", seat: "座位", hands: "局数",
  seats: ["东", "南", "西", "北"], aside: "先轮空", values: { True: "是", False: "否", None: "无" },
  strengths: {
    random: "初学：随便打", "closed-greedy": "谨慎：只胡不吃碰", greedy: "性急：走最短的路", "plan-value": "会算：看牌值多少", value: "不错：衡量各种打法", folding: "谨防放炮：危险时弃胡",
    policy: "强：自己对局学会的", search: "最强，也最慢：把每个选择都推演一遍", reference: "排行榜的参照",
  },
  whatIs: "麻将是什么？",
  mahjong: [
    "麻将由四人（或三人）来打，有三种花色的数牌、风牌和箭牌，每种四张。",
    "每人手里十三张（有的地方十六张），轮到时摸一张，打一张。",
    "谁先凑成一副牌谁就胡：若干副三张，加一对将，如下图。三张可以是同花顺子，也可以是三张相同的刻子。",
    "别人刚打出的牌可以要：谁都可以碰，只有下家可以吃，也可以用来胡。",
    "一副牌值多少、什么牌能胡，各地不同：这就是各种玩法。",
  ],
});
const EXAMPLE = [[0, 1, 2], [12, 13, 14], [24, 25, 26], [31, 31, 31], [10, 10]]; // four sets and a pair
const STRENGTHS = Object.keys(words.en.strengths); // from the weakest

const wanted = { variant: "", agent: "", seat: 0, hands: 1, knobs: [], ...remembered("lobby") };
let looked = null; // what the server says of it
let looks = 0;

const isChoosing = () => document.body.classList.contains("choosing");

function enterLobby() {
  const names = data.lobby.variants.map((one) => one.name);
  if (!names.includes(wanted.variant)) Object.assign(wanted, { variant: names.at(-1), knobs: [] });
  if (!data.lobby.agents.includes(wanted.agent)) wanted.agent = data.lobby.agents.includes("greedy") ? "greedy" : data.lobby.agents[0];
  game = "";
  state = null;
  history.replaceState(null, "", location.pathname);
  document.title = "mahjong_env";
  document.body.classList.add("choosing");
  $("lobby").hidden = false;
  complain(null);
  drawLobby();
  look();
}

function leaveLobby() {
  remember("lobby", wanted);
  document.body.classList.remove("choosing");
  $("lobby").hidden = true;
  $("sheet").replaceChildren();
}

function listed(name, text, values, now, change) {
  const select = make("select", { id: `lobby-${name}` }, ...values.map(([value, shown]) => make("option", { value: String(value) }, shown)));
  select.value = String(now);
  select.addEventListener("change", () => change(select.value));
  return make("label", {}, make("span", {}, text), select);
}

function drawLobby() {
  const lang = language === "en" ? 0 : 1;
  document.documentElement.lang = language;
  $("title").replaceChildren(make("span", { lang: "en" }, "mahjong_env"));
  $("facts").textContent = say().choose;
  const cards = data.lobby.variants.map((one) => {
    const input = make("input", { type: "radio", name: "variant", value: one.name });
    input.checked = one.name === wanted.variant;
    input.addEventListener("change", () => { Object.assign(wanted, { variant: one.name, knobs: [], seat: 0 }); look(); });
    const [first, ...rest] = (one.about[lang] || one.about[0]).split(/(?<=\.) |(?<=。) ?/);
    return make("label", { class: "card" }, input, make("b", {}, ...named(one)),
      make("small", {}, first, make("span", {}, ` ${rest.join(" ")}`)));
  });
  const agents = [...data.lobby.agents].sort((one, other) => STRENGTHS.indexOf(one) - STRENGTHS.indexOf(other));
  const isOpen = (id, otherwise) => ($(id) ? $(id).open : otherwise);
  const drawer = (id, open, ...children) => make("details", open ? { id, open: "" } : { id }, ...children);
  const play = make("button", { type: "submit", id: "start", class: "win" }, say().start);
  const { people = 4 } = looked?.table ?? {};
  const seats = [...Array(people).keys()].map((seat) => [seat, seat < (looked?.seats ?? 4) ? say().seats[seat] : say().aside]);
  $("lobby").replaceChildren(
    drawer("what", isOpen("what", !remembered("lobby")), make("summary", {}, say().whatIs), make("p", {}, say().mahjong.join(language === "en" ? " " : "")),
      make("div", { class: "tiles taught" }, ...EXAMPLE.map((set) => make("span", { class: "meld" }, ...set.map((kind) => tile(kind, -2)))))),
    make("fieldset", {}, make("legend", {}, say().choose), ...cards),
    make("div", { class: "grid" },
      listed("agent", say().opponents, agents.map((name) => [name, say().strengths[name] ?? name]), wanted.agent, (value) => { wanted.agent = value; }),
      listed("hands", say().hands, data.lobby.hands.map((count) => [count, String(count)]), wanted.hands, (value) => { wanted.hands = Number(value); }),
      listed("seat", say().seat, seats, wanted.seat, (value) => { wanted.seat = Number(value); })),
    drawer("knobs", isOpen("knobs", wanted.knobs.length > 0), make("summary", {}, say().houseRules), ...knobs()), play);
}

// One field for each house rule: what differs from the usual is sent.
function knobs() {
  return (looked?.knobs ?? []).map(([name, now, choices, valid, about, labels]) => {
    const shown = (one, i) => labels[i] ?? say().values[one] ?? one.replaceAll("_", " ");
    const id = `knob-${name}`; // by which `look` finds what had the focus
    const field = choices.length ? make("select", { id }, ...choices.map((one, i) => make("option", { value: one }, shown(one, i)))) : make("input", { id, type: "text", title: valid });
    const given = wanted.knobs.find((one) => one.startsWith(`${name}=`)); // it may be what has just been refused
    field.value = given === undefined ? now : given.slice(name.length + 1);
    field.addEventListener("change", () => {
      wanted.knobs = [...wanted.knobs.filter((one) => !one.startsWith(`${name}=`)), `${name}=${field.value}`];
      look();
    });
    const spoken = /[一-龥]/.test(about) ? {} : { lang: "en" }; // a variant from outside may have no Chinese
    return make("label", spoken, make("span", {}, about), field);
  });
}

// Asks for the sheet and for a table of what is wanted by now, and shows both.
async function look() {
  looks += 1;
  const number = looks;
  try {
    const told = await ask("rules", { ...wanted, language });
    if (number !== looks || !isChoosing()) return;
    looked = told;
    complain(null);
  } catch (error) { if (number === looks) complain(error); return; }
  wanted.seat = Math.min(wanted.seat, looked.table.people - 1);
  const focused = document.activeElement?.id || document.activeElement?.value;
  drawLobby();
  $("lobby").querySelector(`[id="${focused}"], [value="${focused}"]`)?.focus({ preventScroll: true });
  Object.assign(data, looked.table);
  lay(looked.frame);
  $("sheet").replaceChildren(...markdown(looked.page));
}

$("lobby").addEventListener("submit", (event) => { event.preventDefault(); begin(); });

// English words in Chinese, and Chinese ones in English, are marked as such.
function foreign(text) {
  const [words, lang] = language === "en" ? [/([\u3001-\u303f\u4e00-\u9fff\uff00-\uffef]+)/, "zh"] : [/([A-Za-z][A-Za-z0-9 ,.'’!?:;&/()<>_-]*[A-Za-z0-9.!?>])/, "en"];
  return text.split(words).map((part, i) => (i % 2 ? make("span", { lang }, part) : part)).filter(Boolean);
}

// --- The sheet: Markdown, as far as the pages of rules use it; all text stays text --------------------------------
function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/).filter(Boolean).flatMap((part) => {
    const [, mark, inner] = /^(\*\*|\*|`)(.+)\1$/s.exec(part) ?? [];
    return mark ? [make({ "**": "b", "*": "i", "`": "code" }[mark], {}, ...foreign(inner))] : foreign(part);
  });
}

function markdown(page) {
  const shown = [];
  for (const block of page.split(/\n{2,}/)) {
    const lines = block.split("\n");
    const [, marks, heading] = /^(#+) +(.+)$/.exec(lines[0]) ?? [];
    if (marks) {
      shown.push(make(`h${Math.min(marks.length + 1, 6)}`, {}, ...inline(heading)));
      if (lines.length > 1) shown.push(make("p", {}, ...inline(lines.slice(1).join(" "))));
    } else if (/^[*-] /.test(lines[0])) {
      shown.push(make("ul", {}, ...block.split(/\n(?=[*-] )/).map((item) => make("li", {}, ...inline(item.slice(2).replace(/\s*\n\s*/g, " "))))));
    } else if (lines[0].startsWith("|")) {
      const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line)).map((line) => line.split("|").slice(1, -1));
      shown.push(make("table", {}, headings(...rows[0].map((one) => one.trim())),
        make("tbody", {}, ...rows.slice(1).map((row) => make("tr", {}, ...row.map((one) => make("td", {}, ...inline(one.trim()))))))));
    } else if (lines[0].startsWith("```")) shown.push(make("pre", {}, lines.slice(1, -1).join("\n")));
    else shown.push(make("p", {}, ...inline(lines.join(" "))));
  }
  return shown;
}
