import { violationText } from "./report.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

/** A message of the parent process: the next seed. */
interface Job {
  readonly seed: number;
}

/** The result of one seed; `text` describes a violation. */
export interface JobResult {
  readonly seed: number;
  readonly virtualMs: number;
  /** Coverage of the run. */
  readonly met: readonly string[];
  readonly text: string | undefined;
}

const work = async ({ seed }: Job): Promise<JobResult> => {
  const report = await run({ seed });
  const { virtualMs, met } = report;
  if (report.violations.length === 0) return { seed, virtualMs, met, text: undefined };
  return { seed, virtualMs, met, text: violationText(report, await shrink({ seed }, report)) };
};

process.on("message", (job: Job) => {
  void work(job).then(
    (result) => process.send?.(result),
    (error: Error) => {
      const text = `seed ${job.seed}: the simulation itself failed: ${error.stack}`;
      process.send?.({ seed: job.seed, virtualMs: 0, met: [], text });
    },
  );
});
