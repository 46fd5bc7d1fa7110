// Tables: a click on a heading sorts; a long table has a field that filters its rows.

/** Rows from which a table has the field. */
const LONG = 8;

/** Makes the tables of the page sortable. */
export function mountTables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) {
    const body = table.tBodies[0]!;
    const rows = [...body.rows];
    const heads = [...table.tHead!.rows[0]!.cells];
    heads.forEach((head, at) => {
      const sort = () => sortBy(body, rows, heads, at);
      head.tabIndex = 0;
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort();
      });
    });
    if (rows.length >= LONG) (table.closest(".scroll") ?? table).before(...filter(rows));
  }
}

/** Sorts by a column: numbers from the largest, texts from the first; the other way round at the next click. */
function sortBy(body: HTMLElement, rows: HTMLTableRowElement[], heads: HTMLElement[], at: number): void {
  const head = heads[at]!;
  const numeric = head.classList.contains("number");
  const before = head.getAttribute("aria-sort");
  const descending = before === "ascending" || (numeric && before === null);
  for (const each of heads) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const keyed = rows.map((row) => ({ row, key: row.cells[at]!.dataset["key"] ?? row.cells[at]!.textContent }));
  keyed.sort(({ key: a }, { key: b }) => {
    // Empty cells come last in both directions.
    if (a === "" || b === "") return Number(a === "") - Number(b === "");
    const order = numeric ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
    return descending ? -order : order;
  });
  body.append(...keyed.map(({ row }) => row));
}

function filter(rows: HTMLTableRowElement[]): HTMLElement[] {
  const label = "Filter rows";
  const about = { type: "search", placeholder: label, className: "filter", ariaLabel: label };
  const field = Object.assign(document.createElement("input"), about);
  const count = Object.assign(document.createElement("span"), { className: "matching" });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const matching = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length ? `${matching} of ${rows.length}` : "";
  });
  return [field, count];
}
