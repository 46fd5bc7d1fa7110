// Shows below each result of the search the sections in which its words are, with the text around the first one.
(() => {
  "use strict";
  const [BEFORE, AFTER, MOST] = [60, 180, 3];
  const query = new URLSearchParams(location.search).get("q") || "";
  const words = query.toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u).filter((word) => word);

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

  const extend = (item) => {
    const link = item.querySelector("a");
    const [path, anchor] = link.getAttribute("href").split("#");
    const sections = TEXTS[decodeURIComponent(path).replace(/\.html$/, "")] || [];
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

  const watch = () => new MutationObserver((changes) => {
    for (const change of changes) {
      for (const node of change.addedNodes) {
        if (node.nodeName === "LI") extend(node);
      }
    }
  }).observe(document.getElementById("search-results"), { childList: true, subtree: true });

  if (words.length) watch();
})();
