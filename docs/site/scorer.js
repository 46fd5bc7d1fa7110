// How Sphinx orders the results of a search: who asks how to do a thing wants the guide, and then what explains or lists it.
const FOLDERS = { guides: 3, concepts: 1.5, api: 0.8, papers: 0.7 };
const PAGES = { index: 0.9, changelog: 0.3, contributing: 0.5 };
var Scorer = {
  score: ([page, , , , points]) => points * (PAGES[page] ?? FOLDERS[page.split("/")[0]] ?? 1),
  // A name of the package, if the word is all of it or a part, and by its kind.
  objNameMatch: 11,
  objPartialMatch: 2,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  // A heading, and the text.
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
