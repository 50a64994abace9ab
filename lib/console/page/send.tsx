import type { JSX } from "preact";
import type { RequestState } from "../../admin/admin.ts";
import type { Session } from "../../admin/answers.ts";
import type { CommandView } from "../../admin/command-view.ts";
import type { Forms, OperationForm } from "../../admin/forms.ts";
import { get, withQuery } from "./api.ts";
import { linkTo, type Route, useLoaded } from "./hooks.ts";
import { Empty, ErrorNote, PageHead, Pending } from "./parts.tsx";
import type { Draft } from "./send-draft.ts";
import { SendForm } from "./send-form.tsx";

const REDACTED = "[redacted]";

/** The fields of a record without its secrets, which only the sender has. */
const known = (values: unknown): Draft["body"] =>
  Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== REDACTED));

/** What the record of a command still has of its request. The end of a command erases the rest. */
const draftOf = ({ params, request, wouldSend, account, after, guards }: CommandView): Draft => {
  const kept = request.state === "kept" ? request : undefined;
  const body = kept?.body ?? wouldSend?.body;
  return {
    params,
    query: kept?.query ?? {},
    ...(body !== undefined && { body: known(body) }),
    common: { account, ...(after && { after }), ...(guards && { guards }) },
  };
};

const Choice = (props: { forms: Forms; current: string | undefined }): JSX.Element => (
  <label class="choice">
    operation
    <select
      value={props.current ?? ""}
      onChange={(event) => {
        location.hash = linkTo(["send", event.currentTarget.value]);
      }}
    >
      <option value="" disabled>
        choose an operation
      </option>
      {props.forms.operations.map(({ id, summary }) => (
        <option key={id} value={id}>
          {id}: {summary}
        </option>
      ))}
    </select>
  </label>
);

/** The form of an operation, filled from a command if the address names one. */
const Prefilled = (props: {
  form: OperationForm;
  forms: Forms;
  from: string | undefined;
  sender: string | undefined;
  session: Session;
}): JSX.Element => {
  const { form, forms, from, sender, session } = props;
  const path = withQuery(`/commands/${encodeURIComponent(from ?? "")}`, { sender });
  const record = useLoaded(path, async (signal) =>
    from === undefined ? undefined : get<RequestState>(path, signal),
  );
  const { data } = record;
  const command = data?.kind === "command" && data.operation === form.id ? data : undefined;
  if (from !== undefined && !data && !record.error) return <Pending error={undefined} />;
  return (
    <>
      {record.error && <ErrorNote error={record.error} />}
      {command && (
        <p class="note">
          Filled from <a href={linkTo(["commands", command.sender, command.commandId])}>{from}</a>
          {command.request.state === "erased" && !command.wouldSend
            ? ". The end of that command erased its query and body: fill them in again."
            : ". Secrets are not filled in."}
        </p>
      )}
      <SendForm
        key={`${form.id} ${command?.commandId ?? ""}`}
        form={form}
        common={forms.common}
        session={session}
        initial={command ? draftOf(command) : { params: {}, query: {}, common: {} }}
      />
    </>
  );
};

/** Sends a command by a form: `#/send/OPERATION?from=COMMAND_ID` fills it from that command. */
export const SendPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const [, id] = route.path;
  const { data, error } = useLoaded("operations", (signal) => get<Forms>("/operations", signal));
  const form = data?.operations.find((each) => each.id === id);
  return (
    <>
      <PageHead title="Send" />
      {!session.allowsChanges && (
        <p class="note">
          This console is read-only: the form shows the command line, and sends nothing. Start it
          again with <code>--allow-changes</code> to send.
        </p>
      )}
      {!data && <Pending error={error} />}
      {data && <Choice forms={data} current={form?.id} />}
      {data && !form && (
        <Empty>
          {id === undefined
            ? "Choose an operation to get its form."
            : "There is no such operation. Choose one."}
        </Empty>
      )}
      {data && form && (
        <Prefilled
          key={form.id}
          form={form}
          forms={data}
          from={route.query.get("from") ?? undefined}
          sender={route.query.get("sender") ?? undefined}
          session={session}
        />
      )}
    </>
  );
};
