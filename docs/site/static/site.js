// Scrolls the navigation to the page that is open.
(() => {
  "use strict";
  const [all, current] = [".sidebar-scroll", ".sidebar-tree .current-page"].map((each) => document.querySelector(each));
  if (all && current) all.scrollTop += current.getBoundingClientRect().top - all.getBoundingClientRect().top - all.clientHeight / 3;
})();

// Offers the documentation of other versions, if the host has them.
(async () => {
  "use strict";
  const label = document.querySelector(".sidebar-versions");
  if (!label || !location.protocol.startsWith("http")) return;
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const answer = await fetch(new URL("versions.json", root)).catch(() => null);
  if (!answer?.ok) return;
  const { here, top, versions } = await answer.json();
  const select = label.querySelector("select");
  select.replaceChildren(...versions.map((version) => new Option(version, version, version === here, version === here)));
  select.addEventListener("change", () => {
    const newest = select.value === versions[0];
    location.href = new URL(newest ? `${top}/index.html` : `${top}/${select.value}/index.html`, root).href;
  });
  label.hidden = versions.length < 2;
})();
