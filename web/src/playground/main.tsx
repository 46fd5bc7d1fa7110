// The playground: puts the parts of the page together.
import { effect } from "@preact/signals";
import { type JSX, render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Charts } from "../charts/charts.tsx";
import { PATH } from "../charts/curves.ts";
import { lessons } from "ackclock:lessons";
import { type Editor, mountEditor } from "../editor/editor.ts";
import { connect, served } from "../engine/connect.ts";
import { type Engine, type Problem, reason } from "../engine/protocol.ts";
import { type Course, follow, LessonMenu, OpenLesson } from "../lessons/view.tsx";
import { media } from "../media.ts";
import { PacketViews } from "../packets/view.tsx";
import { Share } from "../share/controls.tsx";
import { decode, type Unpacked } from "../share/share.ts";
import { Basics } from "./basics.tsx";
import { Fault } from "./fault.tsx";
import { withFlow } from "./flows.ts";
import { Kept } from "./keptruns.tsx";
import { knobs, limited } from "./knobs.ts";
import { type Lab, makeLab, type Run } from "./lab.ts";
import { Menus, PLAYGROUND } from "./menus.tsx";
import { Numbers } from "./numbers.tsx";
import { Sliders } from "./sliders.tsx";
import START from "./start.toml";
import { Toolbar } from "./toolbar.tsx";

/** A phone shows two charts and the text about them at once. */
const phone = media("(max-width: 40rem)");
const PHONE_HEIGHT = 110;

const Title = (): JSX.Element => (
  <h1>
    <img src="icon.svg" alt="" width={26} height={26} />
    Ackclock playground
  </h1>
);

type PageProperties = { lab: Lab; makeEngine: () => Engine; link: Unpacked; course: Course };

/** The page; `link` is what its address held. */
function Page({ lab, makeEngine, link, course }: PageProperties): JSX.Element {
  const editor = useRef<Editor>(undefined);
  const showProblem = (problem: Problem) => editor.current?.show(problem);
  return (
    <>
      <header>
        <Title />
        <nav class="lessons" aria-label="Lessons">
          <LessonMenu course={course} />
        </nav>
        <Share lab={lab} makeEngine={makeEngine} unpacked={link} />
        <a href="logs.html" title="Draw logs of connections (qlog), also those of real stacks">
          Logs
        </a>
      </header>
      <main class="layout">
        <div class="left">
          <Controls lab={lab} course={course} />
          <Scenario lab={lab} editor={editor} />
        </div>
        <div class="right">
          <Toolbar lab={lab} />
          <Fault lab={lab} show={showProblem} />
          <Curves lab={lab} />
          <Kept lab={lab} />
          <Numbers lab={lab} />
          <Packets lab={lab} />
        </div>
      </main>
    </>
  );
}

/** The lesson, the sliders and the menus. */
function Controls({ lab, course }: Pick<PageProperties, "lab" | "course">): JSX.Element {
  const checked = lab.checked.value;
  const known = checked ? knobs(checked.resolved, limited(lab.describe)) : [];
  const onEdit = lab.edit;
  return (
    <>
      <OpenLesson
        course={course}
        sliders={(ids) => (
          <div class="knobs within">
            <Sliders knobs={known.filter(({ id }) => ids.includes(id))} onEdit={onEdit} />
          </div>
        )}
      />
      <section class="card sliders" aria-label="Path">
        <div class="knobs">
          <Sliders knobs={known} onEdit={onEdit} />
        </div>
        {checked && <Basics scenario={checked.scenario} onEdit={onEdit} />}
      </section>
      <section class="card menus" aria-label="Flows and queue">
        {checked && (
          <Menus
            describe={lab.describe}
            wanted={PLAYGROUND}
            checked={checked}
            onEdit={onEdit}
            onAdd={() => lab.setText(withFlow(checked.text, checked.values))}
          />
        )}
      </section>
    </>
  );
}

/** The editor of the text. */
function Scenario({ lab, editor }: { lab: Lab; editor: { current: Editor | undefined } }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { describe, text, problems } = lab;
    const made = mountEditor(box.current!, {
      text: text.value,
      onChange: (typed) => lab.setText(typed, true),
      describe,
    });
    editor.current = made;
    const ends = [effect(() => made.setText(text.value)), effect(() => made.setProblems(problems.value))];
    return () => {
      for (const end of ends) end();
      made.destroy();
    };
  }, [lab, editor]);
  return (
    <section class="card editor" aria-label="Scenario">
      <h2>Scenario</h2>
      <p class="soft small" hidden={lab.checked.value?.values["sweep"] === undefined}>
        This page leaves out the values of [sweep]. <code>ackclock sweep</code> runs them all.
      </p>
      <div class="editor-box" ref={box} />
    </section>
  );
}

function Curves({ lab }: { lab: Lab }): JSX.Element {
  return (
    <section class="charts-place" aria-label="Curves" hidden={!lab.view.value}>
      <Charts view={lab.view} zoom={lab.zoom} sync="ackclock" height={phone.value ? PHONE_HEIGHT : undefined} />
    </section>
  );
}

/** The packets of the times that the charts show. */
function Packets({ lab }: { lab: Lab }): JSX.Element {
  const current = lab.current.value;
  const [from, to] = lab.zoom.value ?? (current ? aroundFirstLoss(current) : [0, 1]);
  return <PacketViews engine={lab.engine} text={lab.text.value} from={from} to={to} />;
}

/** The times whose packets a reader wants first: the first loss, from a round trip before it to the reaction two round trips later. */
function aroundFirstLoss({ recording, summary }: Run): [from: number, to: number] {
  const { duration } = recording.scenario;
  const { firstLoss } = recording;
  if (firstLoss === undefined || !summary) return [0, Math.min(1, duration)];
  const rtt = Math.max(...summary.flows.map(({ path_rtt }) => path_rtt));
  return [Math.max(0, firstLoss - rtt), Math.min(duration, firstLoss + 2 * rtt)];
}

async function start(page: HTMLElement): Promise<void> {
  const server = served();
  const makeEngine = connect(server);
  if (!makeEngine) {
    return render(
      <main class="missing">
        <h1>Ackclock playground</h1>
        <p>This page has no engine: the file engine.js was not built, and no server answers for it.</p>
        <p>
          Build it with <code>make web</code>, or open the playground with <code>ackclock serve</code>.
        </p>
      </main>,
      page,
    );
  }
  render(
    <header>
      <Title />
    </header>,
    page,
  );
  const link = await decode(location.hash);
  const narrow = matchMedia("(max-width: 60rem)").matches;
  const lab = await makeLab(makeEngine, link && "state" in link ? link.state.text : (server?.text ?? START), [
    "cwnd",
    "queue",
    "throughput",
    ...(narrow ? [] : ["delay" as const]),
    ...PATH,
  ]);
  render(<Page {...{ lab, makeEngine, link }} course={follow(lessons, lab)} />, page);
}

const page = document.getElementById("page")!;
start(page).catch((error: unknown) => {
  render(
    <main class="missing">
      <h1>Ackclock playground</h1>
      <p class="error" role="alert">
        {reason(error)}
      </p>
    </main>,
    page,
  );
});
