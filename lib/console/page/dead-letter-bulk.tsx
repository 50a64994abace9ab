import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DeadLetterOutcome, DeadLetterPreview } from "../../admin/answers.ts";
import { type ApiError, get, post, withQuery } from "./api.ts";
import { Outcomes } from "./dead-letter-outcomes.tsx";
import { ErrorNote } from "./parts.tsx";

const HOUR_MS = 3_600_000;

type Action = "redrive" | "delete";

/** A preview, with what applies it: the same filters up to the instant of the preview. */
interface Previewed {
  readonly action: Action;
  readonly filter: Readonly<Record<string, string>>;
  readonly outcomes: readonly DeadLetterOutcome[];
}

const isTarget = ({ outcome }: DeadLetterOutcome): boolean =>
  outcome === "would-send-back" || outcome === "would-delete";

/** The given filters; the time is an age in hours. */
const filterIn = (form: FormData): Record<string, string> => {
  const hours = Number(form.get("hours"));
  const since = hours > 0 ? new Date(Date.now() - hours * HOUR_MS).toISOString() : "";
  const all = { queue: form.get("queue"), reason: form.get("reason"), since };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => {
      const text = String(value ?? "").trim();
      return text === "" ? [] : [[name, text]];
    }),
  );
};

/** Redrive or deletion of many dead letters by queue, diagnosis and age, with a preview first. */
export const DeadLetterBulk = (props: { onDone: () => void }): JSX.Element => {
  const [previewed, setPreviewed] = useState<Previewed>();
  const [done, setDone] = useState<readonly DeadLetterOutcome[]>();
  const [error, setError] = useState<ApiError>();
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    await work().catch((failure: ApiError) => setError(failure));
  };
  const preview = (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const action: Action = form.get("action") === "delete" ? "delete" : "redrive";
    const given = filterIn(form);
    setDone(undefined);
    setPreviewed(undefined);
    return attempt(async () => {
      const path = withQuery(`/dead-letters/${action}/preview`, given);
      const { outcomes, until } = await get<DeadLetterPreview>(path);
      setPreviewed({ action, filter: { ...given, until }, outcomes });
    });
  };
  const apply = ({ action, filter }: Previewed): Promise<void> =>
    attempt(async () => {
      const force = action === "delete" ? { force: false } : {};
      const body = { matching: filter, ...force };
      setDone(await post<readonly DeadLetterOutcome[]>(`/dead-letters/${action}`, body));
      setPreviewed(undefined);
      props.onDone();
    });
  const targets = previewed?.outcomes.filter(isTarget).length ?? 0;
  return (
    <details class="put">
      <summary>Redrive or delete many</summary>
      <form class="filters" onSubmit={preview}>
        <label>
          action
          <select name="action">
            <option>redrive</option>
            <option>delete</option>
          </select>
        </label>
        <label>
          queue
          <select name="queue">
            <option value="">any</option>
            <option>commands</option>
            <option>requests</option>
          </select>
        </label>
        <label>
          diagnosis
          <input name="reason" autocomplete="off" spellcheck={false} placeholder="any" />
        </label>
        <label>
          arrived in the last hours
          <input name="hours" type="number" min="1" step="1" placeholder="any" />
        </label>
        <div class="actions">
          <button type="submit">Preview</button>
        </div>
      </form>
      {error && <ErrorNote error={error} />}
      {previewed && (
        <>
          <p class="note" role="status">
            {previewed.outcomes.length === 0
              ? "No dead letter matches."
              : `Nothing has changed yet. ${targets} of ${previewed.outcomes.length} would change; later arrivals are left alone.`}
          </p>
          {previewed.outcomes.length > 0 && (
            <Outcomes label="Preview" outcomes={previewed.outcomes} />
          )}
          {targets > 0 && (
            <div class="actions">
              <button type="button" onClick={() => apply(previewed)}>
                {previewed.action === "redrive" ? "Redrive" : "Delete"} {targets}
              </button>
              <button type="button" class="quiet" onClick={() => setPreviewed(undefined)}>
                Not now
              </button>
            </div>
          )}
        </>
      )}
      {done && <Outcomes label="Result" outcomes={done} />}
    </details>
  );
};
