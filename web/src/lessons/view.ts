// The list of the lessons and the page of one.
import { fill, h } from "../dom.ts";
import type { Knob } from "../playground/knobs.ts";
import { type Block, type Inline, type Lesson, named } from "./lesson.ts";
import { type Bench, showRuns } from "./overlay.ts";

function inline(piece: Inline): Node | string {
  if (typeof piece === "string") return piece;
  const children = piece.children.map(inline);
  if (piece.kind === "link") return h("a", { href: piece.href, rel: "noopener" }, children);
  return h(piece.kind, {}, children);
}

/** The elements of a text; `sliders` makes the sliders below a block. */
function blocks(tree: Block[], sliders?: LessonOptions["sliders"]): HTMLElement[] {
  return tree.flatMap((block) => [
    block.kind === "paragraph"
      ? h("p", {}, block.children.map(inline))
      : h(
          "ul",
          {},
          block.items.map((item) => h("li", {}, item.map(inline))),
        ),
    ...(block.sliders && sliders ? [sliders(block.sliders)] : []),
  ]);
}

/** What a lesson's page can ask for. */
export interface LessonOptions {
  /** Opens a lesson; undefined closes the lessons. */
  open: (lesson: Lesson | undefined) => void;
  /** Shows the lesson's runs again. */
  rerun: () => void;
  /** All lessons, for previous and next. */
  lessons: Lesson[];
  /** Makes sliders. */
  sliders: (ids: Knob["id"][]) => HTMLElement;
}

/** Shows a lesson in `place`. Moves the focus to its title, so that a screen reader reads on from there. */
function mountLesson(place: HTMLElement, lesson: Lesson, { open, rerun, lessons, sliders }: LessonOptions): void {
  const number = lessons.indexOf(lesson);
  const step = (text: string, to: Lesson | undefined) =>
    h("button", { disabled: to === undefined, title: to?.title ?? "", on: { click: () => to && open(to) } }, text);
  const answer = h("div", { class: "answer", id: "lesson-answer", hidden: true }, blocks(lesson.answer));
  const reveal = h("button", { "aria-expanded": false, "aria-controls": "lesson-answer" }, "Show the answer");
  reveal.addEventListener("click", () => {
    answer.hidden = !answer.hidden;
    reveal.setAttribute("aria-expanded", String(!answer.hidden));
    reveal.textContent = answer.hidden ? "Show the answer" : "Hide the answer";
  });
  const title = h("h2", { tabIndex: -1 }, lesson.title);
  const runs = [lesson.base, ...lesson.compare.map(({ name }) => name)];
  fill(
    place,
    h(
      "div",
      { class: "lesson-bar" },
      h("span", { class: "soft" }, `Lesson ${number + 1} of ${lessons.length}`),
      step("Previous", lessons[number - 1]),
      step("Next", lessons[number + 1]),
      h("button", { on: { click: () => open(undefined) } }, "Close"),
    ),
    title,
    h(
      "div",
      { class: "prose" },
      blocks(lesson.text, sliders),
      h("h3", {}, "Question"),
      blocks(lesson.question),
      reveal,
      answer,
      h(
        "p",
        { class: "soft" },
        `In the charts: ${runs.join(", ")}. Change what you like; `,
        h("button", { class: "quiet", on: { click: rerun } }, "show the lesson's runs again"),
        ".",
      ),
    ),
  );
  title.focus({ preventScroll: true });
}

/**
 * Mounts the menu of the lessons in `menu`, and the lesson that the address names in `place`; `newSliders` gives what makes the
 * sliders of one lesson, in place of those of the lesson before. Returns a function that ends this.
 */
export function mountLessons(
  menu: HTMLElement,
  place: HTMLElement,
  lessons: Lesson[],
  lab: Bench,
  newSliders: () => LessonOptions["sliders"],
): () => void {
  let abort = new AbortController();
  const choice = h("select", { id: "lesson-choice" });
  fill(
    choice,
    h("option", { value: "" }, "Choose a lesson …"),
    lessons.map(({ id, title }, index) => h("option", { value: id }, `${index + 1}. ${title}`)),
  );
  const unknown = h("div", { class: "error", role: "alert", hidden: true });
  fill(menu, h("label", { for: "lesson-choice" }, "Lessons"), " ", choice, unknown);

  const run = (lesson: Lesson) => {
    abort.abort();
    abort = new AbortController();
    showRuns(lab, lesson, abort.signal).catch((error: unknown) =>
      lab.set({ error: error instanceof Error ? error.message : String(error) }),
    );
  };
  const show = (lesson: Lesson | undefined) => {
    choice.value = lesson?.id ?? "";
    place.hidden = lesson === undefined;
    const sliders = newSliders();
    if (!lesson) {
      abort.abort();
      return fill(place);
    }
    mountLesson(place, lesson, { open, rerun: () => run(lesson), lessons, sliders });
    run(lesson);
  };
  const open = (lesson: Lesson | undefined) => {
    // A lesson has an address of its own, and the browser's way back leads to the lesson before.
    history.pushState(null, "", lesson ? `#lesson=${lesson.id}` : location.pathname + location.search);
    unknown.hidden = true;
    show(lesson);
  };
  const follow = () => {
    const { id, lesson } = named(lessons, location.hash);
    unknown.textContent = id !== null && !lesson ? `There is no lesson “${id}”: choose one of the list.` : "";
    unknown.hidden = unknown.textContent === "";
    if (lesson) show(lesson);
    else if (choice.value !== "") show(undefined);
  };
  choice.addEventListener("change", () => open(lessons.find(({ id }) => id === choice.value)));
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
  place.hidden = true;
  follow();
  return () => {
    abort.abort();
    window.removeEventListener("hashchange", follow);
    window.removeEventListener("popstate", follow);
  };
}
