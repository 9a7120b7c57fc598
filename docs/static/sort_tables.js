// Tables of standings sort: the heads of their columns are buttons. Numbers go by the first one of a cell, places by the
// mean behind them; rows in italics (who is played against, ceilings) stay where they are.
for (const table of document.querySelectorAll("#the-leaderboard table")) {
  const rows = [...table.tBodies[0].rows];
  const isPinned = (row) => row.cells[0].querySelector("em") !== null;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    const words = head.querySelector("p") ?? head;
    button.append(...words.childNodes);
    words.append(button);
    button.addEventListener("click", () => {
      const isAscending = head.ariaSort === "descending" || (!head.ariaSort && column === 0);
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
      const moving = rows.filter((row) => !isPinned(row));
      moving.sort((one, other) => compared(one.cells[column], other.cells[column], isAscending));
      for (const row of rows) table.tBodies[0].append(isPinned(row) ? row : moving.shift());
    });
  });
}

function compared(one, other, isAscending) {
  const [a, b] = [valueOf(one), valueOf(other)];
  if (a === null || b === null) return (a === null) - (b === null); // empty cells are the last ones either way
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return isAscending ? order : -order;
}

function valueOf(cell) {
  const text = cell.textContent.trim();
  const number = text.match(/; (\d[\d.]*)/) ?? text.match(/^([+-]?\d[\d.,]*)/);
  return text === "" ? null : number ? Number(number[1].replaceAll(",", "")) : text;
}
