// The map of the field: a table of start-ups and avoidances on a path, whose cells open in the playground.
(() => {
  "use strict";
  const place = document.querySelector("#field");
  const data = place && JSON.parse(document.querySelector("#field-data").textContent);
  if (!data) return;
  const names = Object.keys(data.paths);
  const whole = ([, , control]) => control !== "";
  const starts = [...new Set(data.rows.filter(([own]) => !whole(own)).map(([[start]]) => start))];
  const avoidances = [...new Set(data.rows.filter(([own]) => !whole(own)).map(([[, avoidance]]) => avoidance))];
  const byParts = new Map(data.rows.map(([own, values]) => [own.join(" "), { own, values }]));
  const measures = { speed: "speed against Linux'", wait: "95th percentile of waits (ms)" };

  const element = (tag, content = [], more = {}) => {
    const made = Object.assign(document.createElement(tag), more);
    made.append(...[content].flat());
    return made;
  };
  const menu = (label, options) => {
    const select = element("select", Object.entries(options).map(([value, text]) => new Option(text, value)));
    select.addEventListener("change", draw);
    return [element("label", [label, " ", select]), select];
  };

  /** The scenario of a cell: the path's, whose flows under test have these parts. */
  const scenario = (path, own) => {
    const keys = ["slow_start", "avoidance", "congestion_control"];
    const lines = keys.flatMap((key, index) => (own[index] ? [`\n${key} = "${own[index]}"`] : [])).join("");
    return data.paths[path].replace(/^name = "tested.*$/gm, (line) => line + lines);
  };
  /** The fragment of a link to the playground, as its share button makes it. */
  const fragment = async (text) => {
    const json = new TextEncoder().encode(JSON.stringify([text, [], {}]));
    const packed = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
    const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return `s=1.${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  };
  const open = async (path, own) => {
    const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
    window.open(new URL(`playground/index.html#${await fragment(scenario(path, own))}`, root), "_blank");
  };

  /** From red over nothing to blue, by powers of two. */
  const colour = (ratio, better) => {
    const gain = Math.max(-1, Math.min(1, (better * Math.log2(ratio)) / 2));
    return `rgb(${gain < 0 ? "200 60 50" : "30 100 190"} / ${Math.round(80 * Math.abs(gain))}%)`;
  };
  const cell = (key, title) => {
    const found = byParts.get(key);
    const path = pathMenu.value;
    const [speed, wait] = ["speed", "wait"].map((each) => found?.values[data.columns.indexOf(`${path}_${each}`)] ?? "");
    const text = measureMenu.value === "speed" ? speed : wait;
    if (!found || text === "") return element("td");
    const base = byParts.get("hystart cubic_linux ");
    const ratio = measureMenu.value === "speed" ? Number(speed) : (Number(wait) + 0.1) / (Number(base.values[data.columns.indexOf(`${path}_wait`)]) + 0.1);
    const shown = Number(text) < 10 ? Number(text).toFixed(2) : Math.round(Number(text));
    const button = element("button", String(shown), { type: "button", title: `${title} on ${path}: speed ×${speed}, wait ${wait || "–"} ms; opens in the playground` });
    button.addEventListener("click", () => open(path, found.own));
    const made = element("td", button);
    made.style.background = colour(ratio, measureMenu.value === "speed" ? 1 : -1);
    return made;
  };

  function draw() {
    const head = element("tr", [element("th"), ...avoidances.map((name) => element("th", element("span", name)))]);
    const body = starts.map((start) =>
      element("tr", [
        element("th", start),
        ...avoidances.map((avoidance) => cell(`${start} ${avoidance} `, `${start} + ${avoidance}`)),
      ]),
    );
    const controls = data.rows.filter(([own]) => whole(own)).map(([[, , control]]) => control);
    const alone = element("tr", controls.map((name) => element("th", name)));
    const values = element("tr", controls.map((name) => cell(`  ${name}`, name)));
    map.replaceChildren(element("thead", head), element("tbody", body));
    others.replaceChildren(element("tbody", [alone, values]));
  }

  const [pathLabel, pathMenu] = menu("path", Object.fromEntries(names.map((name) => [name, name])));
  const [measureLabel, measureMenu] = menu("measure", measures);
  const map = element("table");
  const others = element("table");
  place.append(
    element("p", [pathLabel, " ", measureLabel, ". A row is a start-up, a column an avoidance; a click opens the run in the playground."]),
    element("div", map, { className: "field-map" }),
    element("p", "Whole controls:"),
    element("div", others, { className: "field-map" }),
  );
  draw();
})();
