import { violationText } from "./report.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

/** From the one who shares the work out: the next seed. */
interface Job {
  readonly seed: number;
}

/** What came of a seed; with a violation, what a person is to read of it. */
export interface JobResult {
  readonly seed: number;
  readonly virtualMs: number;
  /** What the run has come upon. */
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
