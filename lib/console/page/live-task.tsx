import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { LiveTask as Answer } from "../../admin/live-task.ts";
import { type ApiError, get } from "./api.ts";
import { Badge, ErrorNote, Time } from "./parts.tsx";

const LiveState = ({ answer }: { answer: Answer }): JSX.Element => {
  switch (answer.kind) {
    case "unknown":
      return <>The provider does not know this task (404).</>;
    case "unreadable":
      return (
        <>
          Not readable now ({answer.code}): {answer.message}
        </>
      );
    default:
      return (
        <>
          <Badge text={answer.state} /> {answer.taskType}
          {answer.createdAt !== undefined && <span class="muted"> created {answer.createdAt}</span>}
          {answer.finishedAt !== undefined && (
            <span class="muted"> finished {answer.finishedAt}</span>
          )}
          {answer.error !== undefined && <p>{answer.error}</p>}
        </>
      );
  }
};

interface Read {
  readonly at: string;
  readonly answer?: Answer;
  readonly error?: ApiError;
}

/** Reads a task at the provider on request: one request of the account's rate limit. */
export const LiveTask = (props: { account: string; id: string }): JSX.Element => {
  const [read, setRead] = useState<Read>();
  const [isReading, setReading] = useState(false);
  const readNow = async (): Promise<void> => {
    setReading(true);
    const path = `/tasks/${encodeURIComponent(props.account)}/${encodeURIComponent(props.id)}`;
    const at = new Date().toISOString();
    try {
      setRead({ at, answer: await get<Answer>(path) });
    } catch (error) {
      setRead({ at, error: error as ApiError });
    }
    setReading(false);
  };
  return (
    <div class="live">
      <button type="button" class="quiet small" onClick={readNow} disabled={isReading}>
        Read at the provider
      </button>
      <span role="status">
        {read?.answer && (
          <>
            {" "}
            <Time at={read.at} />: <LiveState answer={read.answer} />
          </>
        )}
      </span>
      {read?.error && <ErrorNote error={read.error} />}
    </div>
  );
};
