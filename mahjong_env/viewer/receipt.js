"use strict";
// How a win adds up: the hand by its sets, its rows with their examples, the calculation, who pays, who stands where.
Object.assign(words.en, {
  standings: "Final standings", place: "place", worthOf: "The hand is worth", example: "Example:", how: "how",
});
Object.assign(words.zh, {
  standings: "最终名次", place: "名次", worthOf: "这手牌值", example: "例：", how: "算法",
});

const inWords = (pair) => (pair ? pair[language === "en" ? 0 : 1] : "");
const signedPoints = (amount) => `${amount < 0 ? "−" : "+"}${Math.abs(amount)}`;

// A hand by its sets: [kinds, place of the winning tile or -1, whether it is melded]; the winning tile is framed.
function handByGroups(groups, wild) {
  return make("div", { class: "tiles groups" }, ...groups.map(([kinds, winning, melded]) =>
    make("span", { class: melded ? "group melded" : "group" }, ...kinds.map((kind, i) => {
      const one = tile(kind, wild);
      if (i === winning) one.classList.add("winning");
      return one;
    }))));
}

const timesText = (value, times) => (times > 1 ? `${value} × ${times}` : String(value));

// Rows of a scoring table: [name, Chinese name, value, times]. Each opens its example, where the page has one.
function scoredRows(rows) {
  return make("div", { class: "rows" }, ...rows.map(([name, chinese, value, times = 1]) => {
    const names = language === "en" ? [make("span", { class: "name" }, name), make("span", { class: "faint", lang: "zh" }, chinese)]
      : [make("span", chinese ? { class: "name" } : { class: "name", lang: "en" }, chinese || name)];
    const line = [...names, make("b", {}, timesText(value, times))];
    const example = data.examples?.[name];
    if (!example) return make("div", { class: "row" }, ...line);
    const shown = make("div", { class: "example" }, make("p", {}, inWords(example.meaning) || example.meaning[0]), make("p", { class: "faint" }, say().example),
      handByGroups(example.groups, example.wild), ...inWords(example.situation).map((text) => make("p", { class: "faint" }, text)),
      make("p", {}, example.rows.map(([other, otherChinese, worth, number]) =>
        `${language === "en" ? other : otherChinese || other} ${timesText(worth, number)}`).join(language === "en" ? ", " : "，")),
      make("p", { class: "formula" }, inWords(example.formula) || String(example.value)));
    return make("details", { class: "row" }, make("summary", {}, ...line), shown);
  }));
}

// The value of a hand with its rows: what a win was worth, or would be.
function worth(event, wild = -1) {
  return make("div", { class: "receipt" }, ...(event.groups ? [handByGroups(event.groups, wild)] : []), scoredRows(event.rows),
    make("p", { class: "formula" }, `${say().worthOf} `, make("b", {}, inWords(event.formula) || String(event.value))));
}

function standings(list) {
  return [make("h3", {}, say().standings), make("table", { class: "standings" }, headings(say().place, say().who, say().points),
    make("tbody", {}, ...list.map(([place, one, held]) => cells(place, person(one), held))))];
}

// Why somebody paid or was paid: the rows that were scored, and for every payment the calculation and the reason.
function reasons(frame) {
  const box = $("reasons");
  box.replaceChildren();
  const event = frame.event;
  const isEnd = event.type === "end";
  const paid = isEnd ? event.payments : frame.paid;
  if (isEnd && event.winner >= 0) box.append(worth(event, frame.table.wild));
  if (paid && paid.some((amount) => amount)) {
    if (!isEnd) box.append(make("h3", {}, say().atOnce));
    const why = isEnd ? event.reasons : frame.reasons || [];
    const rows = paid.map((amount, i) => [amount, i]).filter(([amount]) => amount).map(([amount, i]) => {
      const [reason, dealer] = why[i] || ["", false];
      const words = reason ? inWords(data.reasons[reason]) + (dealer ? inWords(data.dealersShare) : "") : "";
      return make("tr", {}, make("td", {}, person(i)), make("td", { class: `number ${amount < 0 ? "worse" : "better"}` }, signedPoints(amount)),
        make("td", {}, words, ...(amount < 0 && inWords(event.shares?.[i]) ? [make("div", { class: "formula" }, inWords(event.shares[i]))] : [])));
    });
    box.append(make("table", { class: "payments" }, headings(say().who, say().amount, say().reason), make("tbody", {}, ...rows)));
  }
  if (event.standings) box.append(make("div", {}, ...standings(event.standings)));
}
