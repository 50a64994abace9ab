import { afterEach, beforeEach } from "vitest";
import type { Automation } from "../../../lib/local/automation.ts";
import { type LocalConsole, openLocalConsole } from "../../support/local-console.ts";
import { openQuietly } from "../local/open-quietly.ts";

interface LocalRun {
  readonly automation: Automation;
  readonly gateway: LocalConsole;
}

/** A local run in memory with its console, a new one for each test of the file. */
export const useLocalConsole = (): LocalRun => {
  let automation: Automation;
  let gateway: LocalConsole;
  beforeEach(async () => {
    automation = await openQuietly();
    gateway = await openLocalConsole(automation);
  });
  afterEach(async () => {
    await gateway.close();
    await automation.stop();
  });
  return {
    get automation() {
      return automation;
    },
    get gateway() {
      return gateway;
    },
  };
};
