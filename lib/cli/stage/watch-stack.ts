import type { Clock } from "../../platform/ports/clock.ts";
import { awsTrouble } from "../admin/aws.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import type { StackEvent, Stacks } from "./stacks.ts";

interface WatchDeps {
  readonly stacks: Pick<Stacks, "eventsAfter" | "find">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

const POLL_MS = 3_000;
/** Time between two lines about the progress. */
const REPORT_MS = 15_000;
/** Polls in a row that AWS may leave unanswered: a deployment outlives a bad minute of the network. */
const MAX_UNANSWERED = 10;
const MAX_REASONS = 5;

const isEnded = (status: string): boolean => !status.endsWith("_IN_PROGRESS");
const SUCCEEDED: ReadonlySet<string> = new Set(["CREATE_COMPLETE", "UPDATE_COMPLETE"]);

/** CloudFormation cancels the other resources after the first failure. */
const isCause = ({ status, reason = "" }: StackEvent): boolean =>
  status.endsWith("_FAILED") && !/cancelled$/i.test(reason);

const causesIn = (events: readonly StackEvent[], stackName: string): readonly string[] =>
  events
    .filter((event) => isCause(event) && event.logicalId !== stackName)
    .slice(0, MAX_REASONS)
    .map(
      ({ logicalId, type, status, reason = "no reason given" }) =>
        `  ${logicalId} (${type}) ${status}: ${reason}`,
    );

const aftermathOf = (stackName: string, status: string): string => {
  if (status === "UPDATE_ROLLBACK_COMPLETE") return "the stack is as before";
  return status === "ROLLBACK_COMPLETE"
    ? `nothing of the stack is left but itself; delete it with aws cloudformation delete-stack --stack-name ${stackName}`
    : `see aws cloudformation describe-stack-events --stack-name ${stackName}`;
};

const failure = (stackName: string, status: string, events: readonly StackEvent[]): ExitError =>
  new ExitError(
    EXIT.failed,
    [
      `the deployment failed, and the stack ${stackName} is in ${status}: ${aftermathOf(stackName, status)}`,
      ...causesIn(events, stackName),
    ].join("\n"),
  );

const interrupted = (stackName: string): ExitError =>
  new ExitError(
    EXIT.timedOut,
    [
      `interrupted: the deployment of ${stackName} continues in AWS`,
      `  to see its state: aws cloudformation describe-stacks --stack-name ${stackName}`,
      `  to stop an update: aws cloudformation cancel-update-stack --stack-name ${stackName}`,
    ].join("\n"),
  );

const isNoAnswer = (error: unknown): boolean => {
  const trouble = awsTrouble(error, "");
  return trouble instanceof ExitError && trouble.exitCode === EXIT.unreachable;
};

/** The events of a deployment so far, and the status of its stack. */
interface Progress {
  readonly events: readonly StackEvent[];
  /** Undefined before the first event: until then, the status is the one of the last deployment. */
  readonly status: string | undefined;
}

const finishedIn = ({ events }: Progress, stackName: string): number =>
  new Set(
    events
      .filter(({ logicalId, status }) => logicalId !== stackName && status.endsWith("_COMPLETE"))
      .map(({ logicalId }) => logicalId),
  ).size;

/** Reads the progress at each call. A call without an answer of AWS returns the last one, but not forever. */
const progressReader = (
  stackName: string,
  lastEvent: string | undefined,
  stacks: WatchDeps["stacks"],
): (() => Promise<Progress>) => {
  let last: Progress = { events: [], status: undefined };
  let unanswered = 0;
  return async () => {
    try {
      const { events } = last;
      const fresh = await stacks.eventsAfter(stackName, events.at(-1)?.id ?? lastEvent);
      const all = [...events, ...fresh];
      const stack = all.length > 0 ? await stacks.find(stackName) : undefined;
      last = { events: all, status: stack?.status };
      unanswered = 0;
    } catch (error) {
      unanswered += 1;
      if (!isNoAnswer(error) || unanswered >= MAX_UNANSWERED) throw error;
    }
    return last;
  };
};

/**
 * Waits for the end of a deployment that CloudFormation runs.
 * @param lastEvent id of the stack's last event before it; undefined for a new stack
 * @throws ExitError with the reasons of a failure, or at Ctrl-C, after which the deployment continues
 */
export const watchStack = async (
  stackName: string,
  lastEvent: string | undefined,
  { stacks, clock, signal, note }: WatchDeps,
): Promise<void> => {
  const readProgress = progressReader(stackName, lastEvent, stacks);
  let reportedAt = clock.now();
  while (!signal.aborted) {
    const progress = await readProgress().catch((error: unknown) => {
      note(`the deployment of ${stackName} continues in AWS`);
      throw error;
    });
    const { status, events } = progress;
    if (status !== undefined && SUCCEEDED.has(status)) return;
    if (status !== undefined && isEnded(status)) throw failure(stackName, status, events);
    if (clock.now() - reportedAt >= REPORT_MS) {
      note(`${status ?? "starting"}: ${finishedIn(progress, stackName)} resources done`);
      reportedAt = clock.now();
    }
    await clock.sleep(POLL_MS, signal);
  }
  throw interrupted(stackName);
};
