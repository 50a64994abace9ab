import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { CheckAnswer, FormField, OperationForm } from "../../admin/forms.ts";
import { type ApiError, post } from "./api.ts";
import { FieldSet, type Values } from "./form-fields.tsx";
import { ErrorNote } from "./parts.tsx";
import { type Draft, detailOf, filledOf } from "./send-draft.ts";
import { SendLine } from "./send-line.tsx";
import { Outcome, type Sent } from "./send-outcome.tsx";

type Problems = CheckAnswer["problems"];

/** How long the form waits after a key before it checks, ms. */
const CHECK_AFTER_MS = 250;

const PLACES = [
  ["params", "Path parameters"],
  ["query", "Query parameters"],
  ["body", "Body"],
] as const;

const fieldPath = (path: string): string => path.replace(/^metadata\./, "");

/** Whether this console sends nothing, and so checks nothing. */
const canUse = ({ allowsChanges, features }: Session, feature: string): boolean =>
  allowsChanges && features.includes(feature);

/** The problems of the form, found a moment after each change, and a function that checks it now. */
const useCheck = (form: OperationForm, draft: Draft, canCheck: boolean) => {
  const [problems, setProblems] = useState<Problems>([]);
  const check = async (): Promise<Problems> => {
    if (!canCheck) return [];
    const detail = detailOf(form, draft, { now: Date.now(), dryRun: false });
    return (await post<CheckAnswer>("/commands/check", detail)).problems;
  };
  useEffect(() => {
    let isCurrent = true;
    const keep = (found: Problems): void => {
      if (isCurrent) setProblems(found);
    };
    // A lost connection shows at the top of the page, and Send checks again.
    const timer = setTimeout(() => check().then(keep, () => {}), CHECK_AFTER_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [draft]);
  const checkNow = async (): Promise<boolean> => {
    const found = await check();
    setProblems(found);
    return found.length === 0;
  };
  return { problems, checkNow };
};

/** The account first: it decides which rights apply. */
const AccountField = (props: {
  session: Session;
  value: unknown;
  onChange: (account: string | undefined) => void;
}): JSX.Element | null =>
  props.session.accounts.length === 0 ? null : (
    <div class="field">
      <label for="account">
        <code>account</code>
      </label>
      <select
        id="account"
        value={typeof props.value === "string" ? props.value : ""}
        onChange={(event) => props.onChange(event.currentTarget.value || undefined)}
      >
        <option value="">the only permitted one</option>
        {props.session.accounts.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );

/** The form of one operation with its command line, and what came of sending it. */
export const SendForm = (props: {
  form: OperationForm;
  common: readonly FormField[];
  session: Session;
  initial: Draft;
}): JSX.Element => {
  const { form, common, session } = props;
  const [draft, setDraft] = useState(props.initial);
  const [fills, setFills] = useState(0);
  const [isAttempted, setAttempted] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [sent, setSent] = useState<Sent>();
  const { problems, checkNow } = useCheck(form, draft, canUse(session, "check"));
  const problemsAt = (path: string): readonly string[] =>
    isAttempted || touched.has(path)
      ? problems.filter((each) => fieldPath(each.path) === path).map(({ rule }) => rule)
      : [];
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });
  const touch = (event: Event): void => {
    if (event.target instanceof HTMLElement) setTouched(new Set([...touched, event.target.id]));
  };
  const hasAccounts = session.accounts.length > 0;
  const advanced = common.filter(({ name }) => name !== "account" || !hasAccounts);

  const send = async (dryRun: boolean): Promise<void> => {
    setAttempted(true);
    setError(undefined);
    setSent(undefined);
    setSending(true);
    const typed = draft.common.commandId;
    // A dry run under the typed id would take that id away from the command itself.
    const commandId = typeof typed === "string" && !dryRun ? typed : crypto.randomUUID();
    const ids = { id: crypto.randomUUID(), commandId, correlationId: commandId };
    try {
      if (await checkNow()) {
        await post("/commands", detailOf(form, draft, { now: Date.now(), ids, dryRun }));
        setSent({ commandId, eventId: ids.id, dryRun });
      }
    } catch (refusal) {
      setError(refusal as ApiError);
    }
    setSending(false);
  };
  const fill = (): void => {
    const { params = {}, query = {}, body } = form.example as Partial<Record<string, Values>>;
    setDraft({ ...draft, params, query, ...(body && { body }) });
    setFills(fills + 1);
  };

  return (
    <form
      class="send"
      key={fills}
      onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}
      onFocusOut={touch}
    >
      <div>
        {form.notes.map((note) => (
          <p class="note" key={note}>
            {note}
          </p>
        ))}
        <div class="actions">
          <button type="button" class="quiet small" onClick={fill}>
            Fill in the example
          </button>
        </div>
        <AccountField
          session={session}
          value={draft.common.account}
          onChange={(account) => change({ common: { ...draft.common, account } })}
        />
        {PLACES.map(([place, title]) => {
          const fields = form[place] ?? [];
          return (
            fields.length > 0 && (
              <section key={place} aria-label={title}>
                <h2>{title}</h2>
                <FieldSet
                  fields={fields}
                  prefix={`${place}.`}
                  values={draft[place] ?? {}}
                  problemsAt={problemsAt}
                  onChange={(values) => change({ [place]: values })}
                />
              </section>
            )
          );
        })}
        <details>
          <summary>Deadline, conditions and id</summary>
          <FieldSet
            fields={advanced}
            prefix=""
            values={draft.common}
            problemsAt={problemsAt}
            onChange={(values) => change({ common: values })}
          />
        </details>
      </div>
      <aside class="send-side" aria-label="Send">
        {session.kind === "local" ? (
          <SendLine form={form} filled={filledOf(form, draft)} />
        ) : (
          <p class="muted">
            The console puts the command on the bus of stage {session.name} (PutEvents). There is no
            line for it: <code>skyhook send</code> reaches local runs only.
          </p>
        )}
        {canUse(session, "send") && (
          <div class="actions">
            <button type="submit" disabled={isSending}>
              Dry run
            </button>
            <button type="button" class="quiet" disabled={isSending} onClick={() => send(false)}>
              Send
            </button>
          </div>
        )}
        <p class="muted">A dry run checks everything, and records what Send would send.</p>
        <div role="alert">
          {isAttempted && problems.length > 0 && (
            <div class="note bad">
              Not sent:
              <ul>
                {problems.map(({ path, rule }) => (
                  <li key={`${path} ${rule}`}>
                    {path !== "" && <code>{fieldPath(path)}</code>} {rule}
                  </li>
                ))}
              </ul>
            </div>
          )}
          {error && <ErrorNote error={error} />}
        </div>
        {sent && <Outcome key={sent.eventId} sent={sent} session={session} />}
      </aside>
    </form>
  );
};
