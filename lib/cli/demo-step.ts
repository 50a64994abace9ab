import type { Automation } from "../local/automation.ts";

/** What the demo expects beside its commands' ends, and how to see whether it is so. */
export interface DemoStep {
  readonly id: string;
  readonly expected: string;
  /** Undefined until it is so, or something else has come of it for good. */
  look(automation: Automation): Promise<string | undefined>;
}
