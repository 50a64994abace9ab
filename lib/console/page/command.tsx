import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { RequestState } from "../../admin/admin.ts";
import type { CancelAnswer, Session } from "../../admin/answers.ts";
import { type ApiError, get, post, refreshMs, withQuery } from "./api.ts";
import { type Route, useLoaded } from "./hooks.ts";
import { Badge, Dialog, ErrorNote, Fact, PageHead, Pending, Time } from "./parts.tsx";

/** Asks for confirmation, then cancels the command. */
const CancelDialog = (props: { path: string; onClose: () => void }): JSX.Element => {
  const [error, setError] = useState<ApiError>();
  const cancel = (): void => {
    post<CancelAnswer>(props.path, {}).then(props.onClose, setError);
  };
  return (
    <Dialog title="Cancel this command?" onClose={props.onClose}>
      <p>It sends nothing more. Commands that wait for it are cancelled too.</p>
      {error && <ErrorNote error={error} />}
      <div class="actions">
        <button type="button" onClick={cancel}>
          Cancel the command
        </button>
        <button type="button" class="quiet" onClick={props.onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
};

/** One command: its state, and what an operator can do. */
export const CommandPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const [, sender = "", id = ""] = route.path;
  const [isCancelling, setCancelling] = useState(false);
  const path = withQuery(`/commands/${encodeURIComponent(id)}`, { sender });
  const state = useLoaded(path, (signal) => get<RequestState>(path, signal), refreshMs(session));
  const { data } = state;
  if (!data) {
    return (
      <>
        <PageHead title={id} />
        <Pending error={state.error} />
      </>
    );
  }
  const canCancel = data.kind === "command" && data.personCan.includes("cancel");
  const close = (): void => {
    setCancelling(false);
    state.reload();
  };
  return (
    <>
      <PageHead title={id}>
        {canCancel && session.allowsChanges && (
          <button type="button" onClick={() => setCancelling(true)}>
            Cancel
          </button>
        )}
      </PageHead>
      {state.error && <ErrorNote error={state.error} />}
      <dl>
        <Fact name="operation">{data.operation}</Fact>
        <Fact name="status">
          <Badge text={data.kind === "command" ? data.status : "rejected"} />
        </Fact>
        {data.kind === "command" && (
          <>
            <Fact name="resource">{data.lane}</Fact>
            <Fact name="accepted">
              <Time at={data.acceptedAt} />
            </Fact>
          </>
        )}
      </dl>
      {isCancelling && (
        <CancelDialog
          path={withQuery(`/commands/${encodeURIComponent(id)}/cancel`, { sender })}
          onClose={close}
        />
      )}
    </>
  );
};
