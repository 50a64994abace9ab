import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { JobName, JobRun } from "../../admin/job-run.ts";
import { type ApiError, post } from "./api.ts";
import { Dialog, ErrorNote } from "./parts.tsx";

const resultText = (run: JobRun): string => {
  switch (run.kind) {
    case "not-configured":
      return "The job is not configured in this run, so nothing happened.";
    case "failed":
      return `The run failed: ${run.problem}`;
    case "ended": {
      const types = [...new Set(run.events.map(({ detailType }) => detailType))];
      if (types.length > 0) return `The run ended and published ${types.join(", ")}.`;
      return `The run ended: ${run.notes.join("; ") || "nothing to publish"}.`;
    }
    default:
      return run satisfies never;
  }
};

type State =
  | { readonly step: "closed" | "asking" | "running" }
  | { readonly step: "ended"; readonly run: JobRun }
  | { readonly step: "refused"; readonly error: ApiError };

/** A button that runs a scheduled job now, after a dialog that says what the run does. */
export const JobButton = (props: {
  session: Session;
  job: JobName;
  label: string;
  /** What a run does, in whole sentences. */
  children: ComponentChildren;
  onEnd: () => void;
}): JSX.Element | null => {
  const { session, job, label, onEnd } = props;
  const [state, setState] = useState<State>({ step: "closed" });
  if (!session.allowsChanges || !session.features.includes("runJob")) return null;
  const run = async (): Promise<void> => {
    setState({ step: "running" });
    try {
      setState({ step: "ended", run: await post<JobRun>(`/jobs/${job}/run`, {}) });
    } catch (error) {
      setState({ step: "refused", error: error as ApiError });
    }
    onEnd();
  };
  const close = (): void => setState({ step: "closed" });
  const isOver = state.step === "ended" || state.step === "refused";
  return (
    <>
      <button type="button" onClick={() => setState({ step: "asking" })}>
        {label}
      </button>
      {state.step !== "closed" && (
        <Dialog title={label} onClose={close}>
          {!isOver && props.children}
          <div role="status">
            {state.step === "running" && <p>The job runs …</p>}
            {state.step === "ended" && <p>{resultText(state.run)}</p>}
          </div>
          {state.step === "refused" && <ErrorNote error={state.error} />}
          <div class="actions">
            {!isOver && (
              <button type="button" disabled={state.step === "running"} onClick={run}>
                Run now
              </button>
            )}
            <button type="button" class="quiet" onClick={close}>
              {isOver ? "Close" : "Cancel"}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
};
