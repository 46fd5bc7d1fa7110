"use strict";
// Figures: their data are unpacked once, and a figure is drawn when it comes into view, in the colours of the page.
(() => {
  const PALETTES = {
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022"],
    dark: ["#4C9BE8", "#F2803C", "#1FBF92", "#E295C6", "#EDB72B", "#A6E1FA", "#F2F2F2", "#A48BFF", "#FF6F88"],
  };
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "star", "cross"];
  const SCALES = {
    sequence: "Viridis",
    gain: [[0, "#b2182b"], [0.25, "#ef8a62"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]],
    loss: [[0, "#2166ac"], [0.25, "#67a9cf"], [0.5, "#f7f7f7"], [0.75, "#ef8a62"], [1, "#b2182b"]],
    ratio: [[0, "#762a83"], [0.25, "#af8dc3"], [0.5, "#f7f7f7"], [0.75, "#7fbf7b"], [1, "#1b7837"]],
  };
  const FONT = 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif';
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)").matches;
  let printing = false;
  let redraw = () => {};

  const theme = () => {
    const name = darkness.matches && !printing ? "dark" : "light";
    return name === "dark"
      ? { palette: PALETTES.dark, ink: "#e4e7ec", soft: "#a3adba", line: "#343b46", paper: "#1b1f26" }
      : { palette: PALETTES.light, ink: "#1c2330", soft: "#59636f", line: "#dfe3e8", paper: "#ffffff" };
  };
  const unpack = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  // The library reads a few tags in texts.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const wrapped = (text, letters) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length + 1 > letters) lines.push(word);
      else lines[lines.length - 1] = last ? `${last} ${word}` : word;
    }
    return lines.map(plain).join("<br>");
  };
  // A program that the page contains, compressed; the policy knows its hash.
  const execute = async (id) => {
    const script = document.createElement("script");
    script.textContent = await unpack(id);
    document.head.append(script);
  };
  const colourOf = (index, look) => look.palette[index % look.palette.length];
  const dashOf = (index, look) => DASHES[Math.floor(index / look.palette.length) % DASHES.length];
  // Each press of "Run" in a live report has its dashes.
  const dashed = ({ colour, again }, look) => again ? ["dot", "dash", "dashdot"][(again - 1) % 3] : dashOf(colour, look);
  const faded = (colour, share) =>
    `rgba(${[1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16)).join(",")},${share})`;
  const shortened = (value) => Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });

  function tracesOf(series, look) {
    const colour = colourOf(series.colour, look);
    const width = series.faint ? 1 : 1.8;
    const place = series.x ? { x: series.x } : { x0: series.x0, dx: series.dx };
    const shape = series.style === "step" ? "hv" : "linear";
    const common = { ...place, meta: series.name, name: plain(series.name), showlegend: false };
    const line = { color: colour, width: series.again ? 2.4 : width, dash: dashed(series, look), shape };
    const curve = series.style === "line" || series.style === "step";
    const traces = [];
    if (curve && series.low) {
      const edge = { ...common, type: "scatter", mode: "lines", hoverinfo: "skip", line: { width: 0, shape, color: colour } };
      traces.push({ ...edge, y: series.low });
      traces.push({ ...edge, y: series.high, fill: "tonexty", fillcolor: faded(colour, 0.14) });
    }
    const texts = series.texts && series.texts.map(plain);
    const hover = texts ? "%{text}" : "%{y:.4~g}";
    const main = { ...common, y: series.y, hovertemplate: curve ? hover : `%{x}: ${hover}` };
    if (texts) main.text = texts;
    if (!curve && series.low) {
      main.error_y = {
        type: "data", symmetric: false, color: series.style === "bars" ? look.ink : colour, thickness: 1.2, width: 3,
        array: series.y.map((y, at) => (series.high[at] === null ? 0 : series.high[at] - y)),
        arrayminus: series.y.map((y, at) => (series.low[at] === null ? 0 : y - series.low[at])),
      };
    }
    if (series.style === "bars") {
      const base = series.base || 0;
      Object.assign(main, { type: "bar", base, textposition: "none", marker: { color: faded(colour, 0.85) }, offsetgroup: series.group || series.name });
      main.customdata = series.y;
      main.y = series.y.map((y) => (y === null ? null : y - base));
      if (!texts) main.hovertemplate = "%{x}: %{customdata:.4~g}";
    } else if (curve) {
      Object.assign(main, { type: "scatter", mode: "lines", line });
    } else {
      const hollow = series.style === "printed";
      Object.assign(main, { type: "scatter", mode: series.style === "joined" ? "lines+markers" : "markers", line });
      main.marker = hollow
        ? { symbol: "diamond", size: 10, color: look.paper, line: { color: colour, width: 2 } }
        : { symbol: SYMBOLS[series.colour % SYMBOLS.length], size: 7, color: colour };
      if (series.again) main.marker = { symbol: "star-diamond", size: 12, color: colour, line: { color: look.ink, width: 1.4 } };
      if (series.hollow) {
        main.marker.color = series.hollow.map((hollow) => (hollow ? look.paper : colour));
        main.marker.line = { color: colour, width: 1.6 };
      }
      main.offsetgroup = series.group || series.name;
    }
    main.hovertemplate += `<extra>${plain(series.name)}</extra>`;
    traces.push(main);
    return traces;
  }

  function mapOf(map, look, width) {
    const room = (width - 150) / map.x.length;
    const longest = Math.max(...map.texts.flat().flatMap((text) => text.split("\n")).map((text) => text.length), 1);
    const size = Math.min(11, Math.floor((room / longest) * 1.6));
    const trace = {
      type: "heatmap", x: map.x.map((_, at) => at), y: map.y.map((_, at) => at), z: map.z, zmin: map.ends[0], zmax: map.ends[1],
      colorscale: SCALES[map.colours], xgap: 1, ygap: 1, hoverongaps: false,
      text: map.texts.map((row) => row.map((text) => text.split("\n").map(plain).join("<br>"))),
      customdata: map.y.map((y) => map.x.map((x) => [plain(x), plain(y)])),
      hovertemplate: "%{customdata[1]}, %{customdata[0]}: %{text}<extra></extra>",
      colorbar: { thickness: 10, outlinewidth: 0, title: { text: wrapped(map.unit, 40), side: "right", font: { size: 11 } }, tickfont: { size: 10 } },
      showscale: width > 330,
    };
    if (size >= 7) Object.assign(trace, { texttemplate: "%{text}", textfont: { size } });
    if (map.ticks) Object.assign(trace.colorbar, { tickvals: map.ticks.map((tick) => tick[0]), ticktext: map.ticks.map((tick) => plain(tick[1])) });
    const names = (list, letters) => ({
      tickvals: list.map((_, at) => at), ticktext: list.map((name) => wrapped(name, letters)), tickfont: { size: list.length > 14 ? 9 : 11 },
      showgrid: false, zeroline: false, automargin: true,
    });
    const shapes = (map.framed || []).map(([x, y]) => ({
      type: "rect", x0: x - 0.47, x1: x + 0.47, y0: y - 0.47, y1: y + 0.47, line: { color: "#D55E00", width: 2.5 },
    }));
    const across = names(map.x, Math.max(6, Math.floor(room / 6)));
    return { trace, shapes, x: across, y: { ...names(map.y, 26), autorange: "reversed" } };
  }

  function layoutOf(panel, look, width) {
    const base = {
      automargin: true, gridcolor: look.line, linecolor: look.soft, zerolinecolor: look.line, tickcolor: look.soft,
      hoverformat: ".4~g",
    };
    const axis = (it, letters) => {
      const made = { ...base, title: { text: wrapped(it.title, letters), standoff: 8, font: { size: 12 } } };
      if (it.log) Object.assign(made, { type: "log", dtick: undefined, minor: { showgrid: false } });
      if (it.limits) made.range = it.log ? it.limits.map(Math.log10) : it.limits;
      if (it.names) {
        const letters = Math.max(6, Math.floor(width / it.names.length / 7));
        Object.assign(made, {
          type: "category", categoryorder: "array", categoryarray: it.names, tickvals: it.names, range: [-0.5, it.names.length - 0.5],
          ticktext: it.names.map((name) => wrapped(name, letters)), showgrid: false,
        });
      }
      return made;
    };
    const layout = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: FONT, size: 12, color: look.ink },
      margin: { l: 10, r: 10, t: 8, b: 10 }, showlegend: false, hovermode: "closest", dragmode: coarse ? false : "zoom",
      hoverlabel: { bgcolor: look.paper, bordercolor: look.line, font: { color: look.ink, family: FONT, size: 12 }, namelength: -1 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: look.soft, activecolor: look.ink },
      barmode: "group", bargap: 0.18, scattermode: "group", scattergap: 0.75, xaxis: axis(panel.x, 60), yaxis: axis(panel.y, 40), shapes: [],
    };
    for (const value of panel.references || []) {
      layout.shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: value, y1: value, layer: "below", line: { color: look.soft, width: 1.2, dash: "dash" } });
    }
    if (panel.band) {
      layout.shapes.push({ type: "rect", xref: "paper", x0: 0, x1: 1, y0: panel.band[0], y1: panel.band[1], layer: "below", line: { width: 0 }, fillcolor: faded(look.soft, 0.16) });
    }
    for (const [at, value] of panel.bars || []) {
      layout.shapes.push({ type: "line", x0: at - 0.42, x1: at + 0.42, y0: value, y1: value, layer: "below", line: { color: look.soft, width: 1.4, dash: "dash" } });
    }
    const series = panel.series || [];
    const curves = series.filter((each) => each.style === "line" || each.style === "step");
    // Points beside the line of a formula stay at their places; others step aside, so that no interval hides another.
    if (curves.length) layout.scattermode = "overlay";
    if (curves.length && curves.length === series.length) {
      if (!panel.y.log && !panel.y.limits) layout.yaxis.rangemode = "tozero";
      if (curves.length <= 6) layout.hovermode = "x unified";
    }
    return layout;
  }

  function drawPanel(figure, index) {
    const panel = figure.spec.panels[index], plot = figure.plots[index], look = theme();
    const width = plot.clientWidth;
    const layout = layoutOf(panel, look, width);
    let traces;
    layout.height = printing ? 260 : figure.plots.length > 1 ? 290 : width > 700 ? 400 : 320;
    if (panel.heatmap) {
      const map = mapOf(panel.heatmap, look, width);
      traces = [map.trace];
      layout.xaxis = { ...layout.xaxis, ...map.x };
      layout.yaxis = { ...layout.yaxis, ...map.y };
      layout.shapes.push(...map.shapes);
      layout.height = Math.max(layout.height, 110 + 21 * panel.heatmap.y.length);
    } else {
      traces = panel.series.flatMap((series) => tracesOf(series, look));
      for (const trace of traces) trace.visible = !figure.hidden.has(trace.meta);
    }
    if (printing) layout.width = width;
    const config = {
      displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: "figure" }, doubleClick: "reset",
    };
    plot.style.height = `${layout.height}px`;
    return Plotly.react(plot, traces, layout, config);
  }

  const draw = (figure) => Promise.all(figure.plots.map((_, index) => drawPanel(figure, index)));

  function showLegend(figure) {
    const look = theme();
    figure.legend.replaceChildren();
    if (figure.spec.legend.length < 2) return;
    for (const { name, colour, style, faint, again } of figure.spec.legend) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Click: show or hide. Double-click: show alone, or show all.";
      button.setAttribute("aria-pressed", String(!figure.hidden.has(name)));
      const paint = colourOf(colour, look), dash = dashed({ colour, again }, look);
      const dashes = { solid: "", dash: "5 3", dot: "2 2", dashdot: "5 2 2 2" }[dash];
      const marks = {
        bars: `<rect x="4" y="2" width="12" height="8" fill="${paint}"/>`,
        points: `<circle cx="10" cy="6" r="4" fill="${paint}"/>`,
        again: `<path d="M10 0l2 4 4 2-4 2-2 4-2-4-4-2 4-2z" fill="${paint}" stroke="${look.ink}"/>`,
        printed: `<path d="M10 1l5 5-5 5-5-5z" fill="none" stroke="${paint}" stroke-width="2"/>`,
      };
      const stroke = `<path d="M0 6h20" stroke="${paint}" stroke-width="${faint ? 1.2 : 2.5}" stroke-dasharray="${dashes}"/>`;
      button.innerHTML = `<svg width="20" height="12" aria-hidden="true">${marks[style] || stroke}</svg>`;
      button.append(name);
      button.addEventListener("click", () => toggle(figure, name));
      button.addEventListener("dblclick", () => isolate(figure, name));
      figure.legend.append(button);
    }
  }

  function refresh(figure) {
    figure.spec.legend.forEach(({ name }, at) =>
      figure.legend.children[at].setAttribute("aria-pressed", String(!figure.hidden.has(name))));
    for (const plot of figure.plots) {
      if (!plot.data || plot.data[0]?.type === "heatmap") continue;
      Plotly.restyle(plot, { visible: plot.data.map((trace) => !figure.hidden.has(trace.meta)) });
    }
  }
  function toggle(figure, name) {
    if (!figure.hidden.delete(name)) figure.hidden.add(name);
    refresh(figure);
  }
  function isolate(figure, name) {
    const others = figure.spec.legend.map((entry) => entry.name).filter((other) => other !== name);
    const alone = others.every((other) => figure.hidden.has(other));
    figure.hidden = new Set(alone ? [] : others);
    refresh(figure);
  }

  async function figures() {
    const elements = [...document.querySelectorAll("figure[data-figure]")];
    if (!elements.length) return [];
    const [data] = await Promise.all([unpack("data"), execute("library")]);
    const specs = JSON.parse(data);
    const all = elements.map((element) => {
      const spec = specs[Number(element.dataset.figure)], panels = element.querySelector(".panels");
      const plots = spec.panels.map((panel) => {
        const frame = document.createElement("div"), plot = document.createElement("div");
        frame.className = "panel";
        plot.className = "plot";
        if (panel.title && spec.panels.length > 1) {
          const title = document.createElement("p");
          title.textContent = panel.title;
          frame.append(title);
        }
        frame.append(plot);
        panels.append(frame);
        return plot;
      });
      const figure = { element, spec, plots, legend: element.querySelector(".legend"), hidden: new Set(), drawn: false };
      showLegend(figure);
      return figure;
    });
    const show = async (figure) => {
      if (figure.drawn) return;
      figure.drawn = true;
      await draw(figure);
      element_ready(figure);
    };
    const element_ready = (figure) => { figure.element.dataset.drawn = "yes"; };
    const watch = new IntersectionObserver(
      (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
        watch.unobserve(entry.target);
        show(all.find((figure) => figure.element === entry.target));
      }), { rootMargin: "400px" });
    all.forEach((figure) => watch.observe(figure.element));
    const again = () => all.filter((figure) => figure.drawn).forEach((figure) => { showLegend(figure); draw(figure); });
    darkness.addEventListener("change", again);
    redraw = (figure) => {
      if (!figure.drawn) return;
      showLegend(figure);
      draw(figure);
    };
    let width = innerWidth, waiting;
    addEventListener("resize", () => {
      if (printing || innerWidth === width) return;
      width = innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(again, 150);
    });
    // Print has the light look, a page's width, and the sections that matter.
    let opened = [];
    addEventListener("beforeprint", () => {
      printing = true;
      opened = [...document.querySelectorAll("details.printed:not([open])")];
      opened.forEach((each) => { each.open = true; });
      all.forEach((figure) => {
        if (!figure.element.checkVisibility()) return;
        figure.drawn = true;
        figure.element.style.width = "680px";
        showLegend(figure);
        draw(figure);
      });
    });
    addEventListener("afterprint", () => {
      printing = false;
      opened.forEach((each) => { each.open = false; });
      all.forEach((figure) => { figure.element.style.width = ""; });
      again();
    });
    return all;
  }

  // Tables: a click on a heading sorts; a long table has a field that filters its rows.
  function tables() {
    for (const table of document.querySelectorAll("table.sortable")) {
      const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], rows = [...body.rows];
      heads.forEach((head, at) => {
        const numeric = head.classList.contains("number");
        const key = (row) => {
          const cell = row.cells[at], text = cell.dataset.key ?? cell.textContent;
          return text === "" ? null : numeric ? Number(text) : text;
        };
        const sort = () => {
          const descending = head.getAttribute("aria-sort") === (numeric ? null : "ascending") || (numeric && head.getAttribute("aria-sort") === "ascending");
          heads.forEach((each) => each.removeAttribute("aria-sort"));
          head.setAttribute("aria-sort", descending ? "descending" : "ascending");
          const sign = descending ? -1 : 1;
          // Empty cells come last in both directions.
          const compare = (a, b) => (a === null || b === null) ? (a === null) - (b === null)
            : sign * (numeric ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
          body.append(...[...rows].sort((a, b) => compare(key(a), key(b))));
        };
        head.tabIndex = 0;
        head.addEventListener("click", sort);
        head.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
        });
      });
      if (rows.length < 8) continue;
      const field = document.createElement("input"), count = document.createElement("span");
      Object.assign(field, { type: "search", placeholder: "Filter rows", className: "filter" });
      field.setAttribute("aria-label", "Filter rows");
      count.className = "matching";
      field.addEventListener("input", () => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        let matching = 0;
        for (const row of rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
          if (!row.hidden) matching += 1;
        }
        count.textContent = words.length ? `${matching} of ${rows.length}` : "";
      });
      (table.closest(".scroll") || table).before(field, count);
    }
  }

  // A link into a folded section opens it.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target.querySelector("details")?.setAttribute("open", "");
    target.scrollIntoView();
  }

  tables();
  reveal();
  addEventListener("hashchange", reveal);
  figures().then((all) => {
    // A live report goes on with a program of its own: web/src/report.
    if (!document.getElementById("program")) return;
    globalThis.ackclockReport = { figures: all, redraw: (figure) => redraw(figure), unpack };
    execute("program");
  });
})();
