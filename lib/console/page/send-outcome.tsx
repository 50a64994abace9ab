import type { JSX } from "preact";
import type { RequestState } from "../../admin/admin.ts";
import type { Session } from "../../admin/answers.ts";
import { ApiError, get, refreshMs, withQuery } from "./api.ts";
import { linkTo, useLoaded } from "./hooks.ts";
import { Badge, ErrorNote } from "./parts.tsx";

export interface Sent {
  readonly commandId: string;
  readonly eventId: string;
  readonly dryRun: boolean;
}

const isOver = (state: RequestState | undefined): boolean =>
  state?.kind === "rejected" || state?.endedAt !== undefined;

const Problems = ({ state }: { state: RequestState }): JSX.Element | null =>
  state.problems && state.problems.length > 0 ? (
    <ul>
      {state.problems.map(({ path, rule }) => (
        <li key={`${path} ${rule}`}>
          {path !== "" && <code>{path}</code>} {rule}
        </li>
      ))}
    </ul>
  ) : null;

/** What came of a sent request: its state until it ends, and a link to its command. */
export const Outcome = (props: { sent: Sent; session: Session }): JSX.Element => {
  const { sent, session } = props;
  const path = withQuery(`/commands/${encodeURIComponent(sent.commandId)}`, {
    event: sent.eventId,
  });
  const { data, error } = useLoaded(
    path,
    // Until the request is handled, there is no command under its id.
    (signal) =>
      get<RequestState>(path, signal).catch((failure: unknown) => {
        if (failure instanceof ApiError && failure.status === 404) return undefined;
        throw failure;
      }),
    refreshMs(session),
  );
  const status = data?.kind === "command" ? data.status : data?.kind;
  return (
    <section aria-label="Result" class="note">
      <p role="status">
        {sent.dryRun ? "Dry run" : "Sent"} as{" "}
        <a class="id" href={linkTo(["commands", session.sender, sent.commandId])}>
          {sent.commandId}
        </a>
        {": "}
        <Badge text={status ?? "queued"} />
        {data && "reason" in data && data.reason !== undefined && ` ${data.reason}`}
        {data && isOver(data) && data.kind === "command" && data.outcome === "dry-run" && (
          <> nothing was sent to the provider</>
        )}
      </p>
      {data && <Problems state={data} />}
      {data?.kind === "command" && data.wouldSend && (
        <>
          <p>Send would send:</p>
          <pre>{JSON.stringify(data.wouldSend, undefined, 2)}</pre>
        </>
      )}
      {error && <ErrorNote error={error} />}
    </section>
  );
};
