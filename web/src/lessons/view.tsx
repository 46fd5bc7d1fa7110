// The list of the lessons and the page of one.
import { batch, signal } from "@preact/signals";
import { Fragment, h, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Option, Select } from "../controls.tsx";
import { reason } from "../engine/protocol.ts";
import type { Knob } from "../playground/knobs.ts";
import type { Lab } from "../playground/lab.ts";
import { type Block, type Inline, type Lesson, named } from "./lesson.ts";
import { showRuns } from "./overlay.ts";

/** The lessons, and the one that is open. */
export type Course = ReturnType<typeof follow>;

/** Opens the lesson that the address names, now and at every change. */
export function follow(lessons: Lesson[], lab: Lab) {
  let abort = new AbortController();
  const lesson = signal<Lesson>();
  /** What is wrong with the address. */
  const fault = signal("");
  /** Shows the lesson's runs again. */
  const rerun = () => {
    abort.abort();
    abort = new AbortController();
    if (!lesson.value) return;
    showRuns(lab, lesson.value, abort.signal).catch((error: unknown) => {
      lab.error.value = reason(error);
    });
  };
  const show = (next: Lesson | undefined) => {
    lesson.value = next;
    rerun();
  };
  const look = () => {
    const { id, lesson: wanted } = named(lessons, location.hash);
    fault.value = id !== null && !wanted ? `There is no lesson “${id}”: choose one of the list.` : "";
    if (wanted || lesson.value) show(wanted);
  };
  window.addEventListener("hashchange", look);
  window.addEventListener("popstate", look);
  look();
  return {
    ...{ lessons, lesson, fault, rerun },
    /** Opens a lesson; undefined closes the lessons. */
    open(next: Lesson | undefined) {
      // A lesson has an address of its own, and the browser's way back leads to the lesson before.
      history.pushState(null, "", next ? `#lesson=${next.id}` : location.pathname + location.search);
      batch(() => {
        fault.value = "";
        show(next);
      });
    },
  };
}

/** The menu of the lessons. */
export function LessonMenu({ course: { lessons, lesson, fault, open } }: { course: Course }): JSX.Element {
  return (
    <>
      <label for="lesson-choice">Lessons</label>{" "}
      <Select
        id="lesson-choice"
        value={lesson.value?.id ?? ""}
        options={[
          ["", "Choose a lesson …"],
          ...lessons.map(({ id, title }, at): Option => [id, `${at + 1}. ${title}`]),
        ]}
        onPick={(picked) => open(lessons.find(({ id }) => id === picked))}
      />
      <div class="error" role="alert" hidden={fault.value === ""}>
        {fault}
      </div>
    </>
  );
}

interface LessonProperties {
  course: Course;
  /** Makes the sliders below a block. */
  sliders: (ids: Knob["id"][]) => JSX.Element;
}

/** The open lesson. */
export function OpenLesson({ course, sliders }: LessonProperties): JSX.Element {
  const lesson = course.lesson.value;
  return (
    <section class="card lesson" aria-label="Lesson" hidden={!lesson}>
      {lesson && <LessonPage key={lesson.id} {...{ lesson, course, sliders }} />}
    </section>
  );
}

function LessonPage({ lesson, course, sliders }: LessonProperties & { lesson: Lesson }): JSX.Element {
  const { lessons, open, rerun } = course;
  const [answered, answer] = useState(false);
  const title = useRef<HTMLHeadingElement>(null);
  // A screen reader reads on from the title.
  useEffect(() => title.current!.focus({ preventScroll: true }), []);
  const number = lessons.indexOf(lesson);
  const step = (text: string, to: Lesson | undefined) => (
    <button disabled={!to} title={to?.title ?? ""} onClick={() => open(to)}>
      {text}
    </button>
  );
  const runs = [lesson.base, ...lesson.compare.map(({ name }) => name)];
  return (
    <>
      <div class="lesson-bar">
        <span class="soft">
          Lesson {number + 1} of {lessons.length}
        </span>
        {step("Previous", lessons[number - 1])}
        {step("Next", lessons[number + 1])}
        <button onClick={() => open(undefined)}>Close</button>
      </div>
      <h2 tabIndex={-1} ref={title}>
        {lesson.title}
      </h2>
      <div class="prose">
        <Blocks of={lesson.text} sliders={sliders} />
        <h3>Question</h3>
        <Blocks of={lesson.question} />
        <button aria-expanded={answered} aria-controls="lesson-answer" onClick={() => answer(!answered)}>
          {answered ? "Hide the answer" : "Show the answer"}
        </button>
        <div class="answer" id="lesson-answer" hidden={!answered}>
          <Blocks of={lesson.answer} />
        </div>
        <p class="soft">
          In the charts: {runs.join(", ")}. Change what you like;{" "}
          <button class="quiet" onClick={rerun}>
            show the lesson's runs again
          </button>
          .
        </p>
      </div>
    </>
  );
}

/** A text, with sliders below its blocks. */
function Blocks({ of, sliders }: { of: Block[]; sliders?: LessonProperties["sliders"] }): JSX.Element {
  return (
    <>
      {of.map((block) => (
        <Fragment>
          {block.kind === "paragraph" ? (
            <p>{block.children.map(inline)}</p>
          ) : (
            <ul>
              {block.items.map((item) => (
                <li>{item.map(inline)}</li>
              ))}
            </ul>
          )}
          {block.sliders && sliders?.(block.sliders)}
        </Fragment>
      ))}
    </>
  );
}

function inline(piece: Inline): JSX.Element | string {
  if (typeof piece === "string") return piece;
  const children = piece.children.map(inline);
  if (piece.kind !== "link") return h(piece.kind, {}, children);
  return (
    <a href={piece.href} rel="noopener">
      {children}
    </a>
  );
}
