import type { JobDeps } from "../ports/job.ts";

interface Outbox {
  readonly kind: string;
  publish(deps: JobDeps, key: string): Promise<void>;
}

/** Publishes what a record still has to tell. What is not taken now stays due, for the poller. */
export const publishRecorded = async (
  deps: JobDeps,
  outbox: Outbox,
  key: string,
): Promise<void> => {
  try {
    await outbox.publish(deps, key);
  } catch (error) {
    deps.log.warn("events of prices are published later", {
      key: `${outbox.kind}#${key}`,
      errorMessage: error instanceof Error ? error.message : String(error),
    });
  }
};
