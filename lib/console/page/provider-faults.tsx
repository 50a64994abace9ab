import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import { type ApiError, get, post, refreshMs } from "./api.ts";
import { useLoaded } from "./hooks.ts";
import { Badge, Empty, ErrorNote, Table } from "./parts.tsx";
import { type Answer, Answered } from "./provider-records.tsx";

type Faults = Answer<"faults">;

/** What a kind of fault does, and the details that it takes. A kind without an entry is shown by its name alone. */
const KINDS: Readonly<Record<string, { readonly does: string; readonly details?: string }>> = {
  status: {
    does: "answers with an error status, without an effect",
    details: "code=503 (default 500), body=html, when=after-effect",
  },
  throttled: { does: "answers 429 with Retry-After", details: "retry-after=7s" },
  "lost-reply-before": { does: "closes the connection before the request takes effect" },
  "lost-reply-after": { does: "lets the request take effect, and loses the reply" },
  reset: { does: "resets the connection, without an effect", details: "when=after-effect" },
  slow: { does: "delays the request", details: "delay=2s or delay=2s..5s (required)" },
  truncated: { does: "lets the request take effect, and cuts off the reply" },
  "unexpected-body": { does: "lets the request take effect, and answers in unknown words" },
};

const FIRST_KIND = "lost-reply-after";

/** How often a rule strikes: the word of the form, and its notation. */
const HOW_OFTEN = [
  ["the next request", ":1x"],
  ["the next 3 requests", ":3x"],
  ["20 % of the requests", ":20%"],
  ["every request", ""],
] as const;

const FaultForm = (props: { faults: Faults; onAdded: () => void }): JSX.Element => {
  const { operations, kinds } = props.faults;
  const [operation, setOperation] = useState("update-policy");
  const [kind, setKind] = useState(FIRST_KIND);
  const [often, setOften] = useState("");
  const [details, setDetails] = useState("");
  const [error, setError] = useState<ApiError>();
  const rule = `${operation}=${kind}${often}${details.trim() === "" ? "" : `,${details.trim()}`}`;
  const { does, details: known } = KINDS[kind] ?? {};
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      await post("/provider/faults", { rule });
      props.onAdded();
    } catch (failure) {
      setError(failure as ApiError);
    }
  };
  return (
    <form class="fault" aria-label="New fault" onSubmit={submit}>
      <div class="filters">
        <label>
          operation
          <select value={operation} onChange={(event) => setOperation(event.currentTarget.value)}>
            <option value="*">all operations</option>
            {operations.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <label>
          kind of fault
          <select
            value={kind}
            onChange={(event) => {
              setKind(event.currentTarget.value);
              setDetails("");
            }}
          >
            {kinds.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          how often
          <select value={often} onChange={(event) => setOften(event.currentTarget.value)}>
            {HOW_OFTEN.map(([text, notation]) => (
              <option key={text} value={notation}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {known && (
          <label>
            details
            <input
              value={details}
              aria-describedby="fault-does"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setDetails(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="actions">
          <button type="submit">Add the fault</button>
        </div>
      </div>
      <p class="hint" id="fault-does">
        {kind} {does}
        {known && `; details: ${known}`}. As a flag of the start: <code>--fault '{rule}'</code>
      </p>
      {error && <ErrorNote error={error} />}
    </form>
  );
};

/** A link to each step of an unknown outcome made by hand. */
const UnknownOutcome = (): JSX.Element => (
  <details class="put">
    <summary>Make an unknown outcome in one minute</summary>
    <ol>
      <li>
        Add the fault <code>update-policy=lost-reply-after</code>: the provider acts, and every
        reply is lost.
      </li>
      <li>
        On <a href="#/send/update-policy">Send</a>, fill in the example. Under{" "}
        <q>Deadline, conditions and id</q> set the deadline to <code>10s</code>, and send. Skyhook
        tries again until then.
      </li>
      <li>
        The command fails as <code>unknown-outcome</code>. Look at the policy on the tab{" "}
        <a href="#/provider/state/lifecycle_policies">State</a>: the change is there.
      </li>
      <li>On the page of the command, choose Resolve, and record that it took effect.</li>
    </ol>
  </details>
);

const FaultTable = (props: {
  rules: Faults["rules"];
  onRemove: ((id: string) => void) | undefined;
}): JSX.Element => {
  const { rules, onRemove } = props;
  if (rules.length === 0) return <Empty>No fault. Every request is answered.</Empty>;
  return (
    <Table
      label="Faults of the service"
      heads={["rule", "struck", "left", ...(onRemove ? ["action"] : [])]}
      rows={rules.map(({ id, rule, struck, left }) => ({
        key: id,
        cells: [
          <code>{rule}</code>,
          <Badge
            text={struck === 1 ? "1 request" : `${struck} requests`}
            tone={struck > 0 ? "bad" : "quiet"}
          />,
          left === undefined ? "no limit" : String(left),
          onRemove && (
            <button
              type="button"
              class="quiet small"
              aria-label={`Remove ${rule}`}
              onClick={() => onRemove(id)}
            >
              Remove
            </button>
          ),
        ].slice(0, onRemove ? undefined : -1),
      }))}
    />
  );
};

/** The fault rules of the embedded service: adds, shows and removes them. */
export const FaultsTab = ({ session }: { session: Session }): JSX.Element => {
  const read = (signal: AbortSignal) => get<Faults>("/provider/faults", signal);
  const loaded = useLoaded("provider-faults", read, refreshMs(session));
  const [error, setError] = useState<ApiError>();
  const remove = async (id: string): Promise<void> => {
    setError(undefined);
    try {
      await post(`/provider/faults/${encodeURIComponent(id)}/remove`, {});
    } catch (failure) {
      setError(failure as ApiError);
    }
    loaded.reload();
  };
  return (
    <Answered loaded={loaded}>
      {(faults) => (
        <>
          <p class="muted">
            The service answers correctly unless a rule makes it fail. A rule strikes requests of
            every client, and ends with this run.
          </p>
          {session.allowsChanges && <FaultForm faults={faults} onAdded={loaded.reload} />}
          {error && <ErrorNote error={error} />}
          <FaultTable rules={faults.rules} onRemove={session.allowsChanges ? remove : undefined} />
          {session.allowsChanges && <UnknownOutcome />}
        </>
      )}
    </Answered>
  );
};
