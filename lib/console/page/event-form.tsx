import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PutAnswer, RuleOutcome } from "../../admin/answers.ts";
import { ApiError, post } from "./api.ts";
import { linkTo } from "./hooks.ts";
import { Badge, ErrorNote } from "./parts.tsx";

const EXAMPLES: Readonly<Record<string, object>> = {
  "an invoice is paid": {
    source: "billing",
    "detail-type": "InvoicePaid",
    detail: { invoice: "2026-001" },
  },
  "a command is requested": {
    source: "my-service",
    "detail-type": "CommandRequested",
    detail: {
      metadata: { commandId: "from-the-console-1" },
      data: {
        operation: "update-policy",
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        body: { status: "paused" },
      },
    },
  },
};

const textOf = (example: object): string => JSON.stringify(example, undefined, 2);

const [FIRST = {}] = Object.values(EXAMPLES);

/** @throws ApiError for a text that is no JSON object */
const readEvent = (text: string): object => {
  try {
    const event: unknown = JSON.parse(text);
    if (typeof event === "object" && event !== null && !Array.isArray(event)) return event;
  } catch (error) {
    throw new ApiError(400, `The event is not readable as JSON: ${(error as Error).message}`);
  }
  throw new ApiError(400, "The event must be a JSON object.");
};

const CommandLink = (props: { id: string; sender: string }): JSX.Element => (
  <a class="id" href={linkTo(["commands", props.sender, props.id])}>
    {props.id}
  </a>
);

const Outcome = ({ outcome, sender }: { outcome: RuleOutcome; sender: string }): JSX.Element => {
  switch (outcome.kind) {
    case "command":
      return (
        <>
          <Badge text="matches" tone="good" /> {outcome.rule}: command{" "}
          <CommandLink id={outcome.commandId} sender={sender} />
        </>
      );
    case "rejected":
      return (
        <>
          <Badge text="rejected" /> {outcome.rule}: {outcome.reason}
          {outcome.problems.map(({ path, rule }) => (
            <div key={`${path}${rule}`} class="muted">
              {path === "" ? rule : `${path}: ${rule}`}
            </div>
          ))}
        </>
      );
    default:
      return (
        <>
          <Badge text="no match" tone="quiet" /> {outcome.rule}: differs in{" "}
          {outcome.unfit.join(", ")}
        </>
      );
  }
};

const Answer = ({ answer }: { answer: PutAnswer }): JSX.Element => (
  <section aria-label="Result of the event">
    <p class="note" role="status">
      The bus took the event <span class="id">{answer.id}</span> of AWS account {answer.account}.
      {answer.rules.every(({ kind }) => kind === "no-match") &&
        " No reaction matches it, so it creates no command."}
    </p>
    <ul class="plain">
      {answer.rules.map((outcome) => (
        <li key={outcome.rule}>
          <Outcome outcome={outcome} sender={answer.account} />
        </li>
      ))}
    </ul>
  </section>
);

/** Puts an event on a bus, and shows which reactions matched. */
export const EventForm = (): JSX.Element => {
  const [text, setText] = useState(textOf(FIRST));
  const [answer, setAnswer] = useState<PutAnswer>();
  const [error, setError] = useState<ApiError>();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const account = String(form.get("account") ?? "").trim();
    setAnswer(undefined);
    setError(undefined);
    try {
      const given = {
        ...readEvent(text),
        ...(account !== "" && { account }),
        ...(form.get("bus") === "default" && { bus: "default" }),
      };
      setAnswer(await post<PutAnswer>("/events", given));
    } catch (failure) {
      setError(failure as ApiError);
    }
  };
  return (
    <details class="put">
      <summary>Put an event by hand</summary>
      <form onSubmit={submit}>
        <div class="actions">
          {Object.entries(EXAMPLES).map(([name, example]) => (
            <button
              key={name}
              type="button"
              class="quiet small"
              onClick={() => setText(textOf(example))}
            >
              Example: {name}
            </button>
          ))}
        </div>
        <label>
          event as JSON, with source, detail-type and detail
          <textarea
            rows={12}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div class="filters">
          <label>
            bus
            <select name="bus">
              <option value="">Skyhook's bus</option>
              <option value="default">default bus (events of AWS services)</option>
            </select>
          </label>
          <label>
            AWS account
            <input
              name="account"
              inputMode="numeric"
              pattern="\d{12}"
              title="12 digits"
              placeholder="Skyhook's own"
              autocomplete="off"
            />
          </label>
          <div class="actions">
            <button type="submit">Put the event</button>
          </div>
        </div>
      </form>
      {error && <ErrorNote error={error} />}
      {answer && <Answer answer={answer} />}
    </details>
  );
};
