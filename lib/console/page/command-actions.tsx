import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CancelAnswer, ResolveAnswer, Session, Verdict } from "../../admin/answers.ts";
import type { CommandView } from "../../admin/command-view.ts";
import { post, withQuery } from "./api.ts";
import { DialogForm } from "./dialog-form.tsx";
import { linkTo } from "./hooks.ts";

const pathOf = ({ commandId, sender }: CommandView, action: string): string =>
  withQuery(`/commands/${encodeURIComponent(commandId)}/${action}`, { sender });

const cancelText = (answer: CancelAnswer): string => {
  switch (answer.kind) {
    case "stopped":
      return `Ended as ${answer.status}${answer.reason === undefined ? "" : ` (${answer.reason})`}.`;
    case "under-way":
      return `Not cancelled: a request is in flight. Its result is known within ${Math.ceil(answer.waitMs / 1000)} s; try again then.`;
    case "following":
      return "Not cancelled: the provider already works on its tasks.";
    default:
      return `Not cancelled: it had ended before, as ${answer.status}.`;
  }
};

const resolveText = (answer: ResolveAnswer): string => {
  switch (answer.kind) {
    case "resolved":
      return "Resolved. The event CommandResolved reports it.";
    case "resolved-otherwise":
      return `Not recorded: another operator had resolved it as ${answer.applied ? "applied" : "not applied"}, and that is final.`;
    case "known":
      return `Not recorded: its outcome is known (${answer.reason ?? answer.status}).`;
    default:
      return "Not recorded: the command has not ended.";
  }
};

interface DialogProps {
  readonly view: CommandView;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

const CancelDialog = ({ view, onClose, onDone }: DialogProps): JSX.Element => (
  <DialogForm
    title="Cancel this command?"
    action="Cancel the command"
    back="Keep it"
    onAct={async () => onDone(cancelText(await post<CancelAnswer>(pathOf(view, "cancel"), {})))}
    onClose={onClose}
  >
    {view.status === "following" ? (
      <p>
        Skyhook stops following the task. The task goes on at the provider, and no event reports its
        end.
      </p>
    ) : (
      <p>
        It sends nothing more and ends as <strong>cancelled</strong>. Commands that were to run
        after it are cancelled too.
      </p>
    )}
    {view.isUncertain && (
      <p>
        A request got no clear reply, so it ends as <strong>failed (unknown-outcome)</strong>{" "}
        instead.
      </p>
    )}
  </DialogForm>
);

const ResolveDialog = ({ view, onClose, onDone }: DialogProps): JSX.Element => {
  const resolve = async (form: FormData): Promise<void> => {
    const note = String(form.get("note") ?? "").trim();
    const verdict: Verdict = {
      applied: form.get("applied") === "yes",
      ...(note !== "" && { note }),
    };
    onDone(resolveText(await post<ResolveAnswer>(pathOf(view, "resolve"), verdict)));
  };
  return (
    <DialogForm
      title="Resolve the unknown outcome"
      action="Record"
      back="Not now"
      onAct={resolve}
      onClose={onClose}
    >
      <p>
        Check at the provider first. Your answer is final. The command stays failed, and the event
        CommandResolved publishes the answer with the note.
      </p>
      <fieldset>
        <legend>Did the request take effect?</legend>
        <label>
          <input type="radio" name="applied" value="yes" required /> Yes, it took effect
        </label>
        <label>
          <input type="radio" name="applied" value="no" required /> No, nothing changed
        </label>
      </fieldset>
      <label>
        Note, without secrets (optional)
        <textarea name="note" maxLength={500} rows={2} />
      </label>
    </DialogForm>
  );
};

const hintOf = (action: string, { tasks }: CommandView): string | undefined => {
  switch (action) {
    case "follow-task": {
      const open = tasks.filter(({ end }) => !end).map(({ id }) => id);
      return `Tasks may still run. To follow them, send follow-task for ${open.join(", ")}.`;
    }
    case "check-task-id":
      return "Check the task id, and that the sender may see its project. Then follow it under a new command id.";
    case "check-effect":
      return "Check the effect at the provider. Send the command again only if it had none.";
    case "send-again":
      return "Remove the cause, then send the command again under a new id.";
    default:
      return undefined;
  }
};

/** The actions that the command's state allows, and hints for those that happen elsewhere. */
export const CommandActions = (props: {
  view: CommandView;
  session: Session;
  onChange: () => void;
}): JSX.Element => {
  const { view, session, onChange } = props;
  const [dialog, setDialog] = useState<"cancel" | "resolve">();
  const [done, setDone] = useState<string>();
  const close = () => setDialog(undefined);
  const finish = (text: string): void => {
    close();
    setDone(text);
    onChange();
  };
  const can = (action: string): boolean => view.personCan.some((each) => each === action);
  const isUnclear = can("resolve") || can("check-effect");
  const canSend = session.features.includes("send") && view.endedAt !== undefined && !isUnclear;
  const hints = view.personCan.map((action) => hintOf(action, view)).filter(Boolean);
  return (
    <>
      <p role="status" class={done === undefined ? "" : "note"}>
        {done}
      </p>
      {hints.map((hint) => (
        <p key={hint} class="note">
          {hint}
        </p>
      ))}
      {session.allowsChanges && (
        <div class="actions">
          {can("cancel") && (
            <button type="button" onClick={() => setDialog("cancel")}>
              Cancel …
            </button>
          )}
          {can("resolve") && (
            <button type="button" onClick={() => setDialog("resolve")}>
              Resolve …
            </button>
          )}
          {canSend && (
            <a
              class="button quiet"
              href={linkTo(["send", view.operation], { from: view.commandId, sender: view.sender })}
            >
              Send again …
            </a>
          )}
        </div>
      )}
      {dialog === "cancel" && <CancelDialog view={view} onClose={close} onDone={finish} />}
      {dialog === "resolve" && <ResolveDialog view={view} onClose={close} onDone={finish} />}
    </>
  );
};
