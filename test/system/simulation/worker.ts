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
  readonly isCrowded: boolean;
  /** CPU time of the run, ms. */
  readonly cpuMs: number;
  /** Coverage of the run. */
  readonly met: readonly string[];
  readonly text: string | undefined;
}

const work = async ({ seed }: Job): Promise<JobResult> => {
  const before = process.cpuUsage();
  const report = await run({ seed });
  const { user, system } = process.cpuUsage(before);
  const { virtualMs, met, isCrowded } = report;
  const result = { seed, virtualMs, met, isCrowded, cpuMs: (user + system) / 1_000 };
  if (report.violations.length === 0) return { ...result, text: undefined };
  return { ...result, text: violationText(report, await shrink({ seed }, report)) };
};

process.on("message", (job: Job) => {
  void work(job).then(
    (result) => process.send?.(result),
    (error: Error) => {
      const text = `seed ${job.seed}: the simulation itself failed: ${error.stack}`;
      process.send?.({ seed: job.seed, virtualMs: 0, isCrowded: false, cpuMs: 0, met: [], text });
    },
  );
});
