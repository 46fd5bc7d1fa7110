// Shows below each result of the search the sections in which its words are, with the text around the first one. The texts
// of a page are a script that is loaded when its result comes into view.
const TEXTS = {};
(() => {
  "use strict";
  const [BEFORE, AFTER, MOST] = [60, 180, 3];
  const query = new URLSearchParams(location.search).get("q") || "";
  // Sphinx has the words that it does not look for in `stopwords`.
  const asked = query.toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u);
  const words = asked.filter((word) => word && !stopwords.has(word));

  const first = (text) => {
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    return places.length ? Math.min(...places) : -1;
  };

  // The number of words that a section has; those of its title count twice.
  const score = ([, title, text]) => words.reduce((sum, word) =>
    sum + 2 * title.toLowerCase().includes(word) + text.toLowerCase().includes(word), 0);

  const excerpt = (text) => {
    const place = Math.max(0, first(text));
    const start = place > BEFORE ? text.indexOf(" ", place - BEFORE) + 1 : 0;
    const end = place + AFTER < text.length ? text.lastIndexOf(" ", place + AFTER) : text.length;
    return (start ? "… " : "") + text.slice(start, Math.max(end, place)) + (end < text.length ? " …" : "");
  };

  // The words of the query as <mark>, everything else as text.
  const marked = (text) => {
    const parts = document.createDocumentFragment();
    let rest = text;
    for (let place = first(rest); place >= 0; place = first(rest)) {
      const lower = rest.toLowerCase();
      const word = words.filter((each) => lower.startsWith(each, place)).sort((a, b) => b.length - a.length)[0];
      parts.append(rest.slice(0, place));
      const mark = document.createElement("mark");
      mark.textContent = rest.slice(place, place + word.length);
      parts.append(mark);
      rest = rest.slice(place + word.length);
    }
    parts.append(rest);
    return parts;
  };

  const load = (name) => new Promise((loaded) => {
    if (TEXTS[name]) return loaded();
    const script = document.createElement("script");
    script.src = `_static/texts/${name}.js`;
    script.onload = script.onerror = () => loaded();
    document.head.append(script);
  });

  const extend = async (item) => {
    const link = item.querySelector("a");
    const [path, anchor] = link.getAttribute("href").split("#");
    const name = decodeURIComponent(path).replace(/\.html$/, "");
    await load(name);
    const sections = TEXTS[name] || [];
    const named = sections.filter(([id]) => anchor && id === decodeURIComponent(anchor));
    const found = named.length ? named : sections.map((each) => [score(each), each])
      .filter(([points]) => points > 0).sort(([a], [b]) => b - a).slice(0, MOST).map(([, each]) => each);
    for (const [id, title, text] of found) {
      const paragraph = document.createElement("p");
      if (!anchor && title !== link.textContent) {
        const inner = document.createElement("a");
        inner.href = `${path}#${id}`;
        inner.textContent = title;
        paragraph.append(inner, ": ");
      }
      paragraph.append(marked(excerpt(text)));
      item.append(paragraph);
    }
  };

  // One after the other, since the texts of a result move the next ones down.
  const waiting = [];
  let busy = false;
  const show = async () => {
    if (busy) return;
    busy = true;
    while (waiting.length && waiting[0].getBoundingClientRect().top < innerHeight) await extend(waiting.shift());
    busy = false;
  };

  const watch = () => {
    new MutationObserver((changes) => {
      for (const change of changes) waiting.push(...[...change.addedNodes].filter((node) => node.nodeName === "LI"));
      show();
    }).observe(document.getElementById("search-results"), { childList: true, subtree: true });
    for (const moved of ["scroll", "resize"]) addEventListener(moved, show, { passive: true });
  };

  if (words.length) watch();
})();
