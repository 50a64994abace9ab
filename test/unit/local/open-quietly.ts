import {
  type Automation,
  type AutomationOptions,
  openAutomation,
} from "../../../lib/local/automation.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { silentLog } from "../../support/logs.ts";

/** A local run in memory on the embedded service, with tasks that end at once. */
export const openQuietly = (options: Partial<AutomationOptions> = {}): Promise<Automation> =>
  openAutomation({
    provider: { kind: "embedded", port: 0, taskDurationMs: 10 },
    jobs: {},
    reactions: [],
    environment: {},
    directory: undefined,
    eventSource: "skyhook",
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: silentLog,
    ...options,
  });
