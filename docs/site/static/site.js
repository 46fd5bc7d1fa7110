// Scrolls the navigation to the page that is open.
(() => {
  "use strict";
  const [all, current] = [".sidebar-scroll", ".sidebar-tree .current-page"].map((each) => document.querySelector(each));
  if (all && current) all.scrollTop += current.getBoundingClientRect().top - all.getBoundingClientRect().top - all.clientHeight / 3;
})();
