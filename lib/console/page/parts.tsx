import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ApiError } from "./api.ts";

/** A page's heading, with its actions at the right. */
export const PageHead = (props: { title: string; children?: ComponentChildren }): JSX.Element => (
  <div class="page-head">
    <h1>{props.title}</h1>
    <div class="actions">{props.children}</div>
  </div>
);

interface Row {
  readonly key: string;
  /** One for each head. */
  readonly cells: readonly ComponentChildren[];
}

/** A table; its rows become cards with named fields on a narrow screen. */
export const Table = (props: {
  label: string;
  heads: readonly string[];
  rows: readonly Row[];
}): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a box that scrolls
  <section class="table-box" aria-label={props.label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {props.heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, index) => (
              <td key={props.heads[index]} data-head={props.heads[index]}>
                <div>{cell}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const TONES: Readonly<Record<string, string>> = {
  succeeded: "good",
  failed: "bad",
  rejected: "bad",
  cancelled: "quiet",
  running: "busy",
  following: "busy",
  waiting: "wait",
  open: "busy",
  finished: "good",
  accepted: "wait",
};

/** A status in words, with a colour as a second sign. */
export const Badge = (props: { text: string; tone?: string }): JSX.Element => (
  <span class={`badge ${props.tone ?? TONES[props.text] ?? "quiet"}`}>{props.text}</span>
);

/** An instant in the reader's time zone; the tooltip has it in UTC. */
export const Time = (props: { at: string }): JSX.Element => {
  const date = new Date(props.at);
  const day = date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const time = date.toLocaleTimeString(undefined, { hourCycle: "h23" });
  return (
    <time dateTime={props.at} title={props.at} class="nowrap">
      {day}, {time}
    </time>
  );
};

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** A duration in its two largest units: `1 h 5 min`, `40 ms`. */
export const durationText = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, ms)} ms`;
  const seconds = Math.round(ms / 1000);
  const index = UNITS.findIndex(([size]) => seconds >= size);
  const [size, name] = UNITS[index] ?? [1, "s"];
  const [small, smallName] = UNITS[index + 1] ?? [1, ""];
  const rest = Math.floor((seconds % size) / small);
  const text = `${Math.floor(seconds / size)} ${name}`;
  return rest > 0 && smallName !== "" ? `${text} ${rest} ${smallName}` : text;
};

/** The time from an instant until `now`; the tooltip has the instant in UTC. */
export const Since = (props: { at: string; now: string }): JSX.Element => (
  <time dateTime={props.at} title={props.at} class="nowrap">
    {durationText(Date.parse(props.now) - Date.parse(props.at))}
  </time>
);

/** Says that there is nothing, and what to do next. */
export const Empty = (props: { children: ComponentChildren }): JSX.Element => (
  <div class="empty">{props.children}</div>
);

export const ErrorNote = (props: { error: ApiError }): JSX.Element => (
  <p class="note bad" role="alert">
    {props.error.message}
  </p>
);

/** The error of a page's last read, or that its first one is under way. */
export const Pending = (props: {
  error: ApiError | undefined;
  hasData?: boolean;
}): JSX.Element | null => {
  if (props.error) return <ErrorNote error={props.error} />;
  return props.hasData ? null : <p class="empty">Loading …</p>;
};

/** A term and its value, in a `dl`. */
export const Fact = (props: { name: string; children: ComponentChildren }): JSX.Element => (
  <div>
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
);

/** A modal dialog. Escape and the backdrop's Cancel close it. */
export const Dialog = (props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}): JSX.Element => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={props.onClose} aria-labelledby="dialog-title">
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  );
};
