import * as z from "zod";
import {
  type DeadLetterList,
  type DeadLetterOutcome,
  deadLetterListSchema,
  deadLetterOutcomeSchema,
} from "../admin/answers.ts";
import type { Selection } from "../admin/dead-letters.ts";
import { post, read } from "./gateway-client.ts";

/** Where dead letters are looked at and settled: at a running Skyhook, or at a deployed stage. */
export interface DeadLetterDesk {
  list(): Promise<DeadLetterList>;
  redrive(selection: Selection): Promise<readonly DeadLetterOutcome[]>;
  remove(ids: readonly string[], isForced: boolean): Promise<readonly DeadLetterOutcome[]>;
}

const outcomes = z.array(deadLetterOutcomeSchema);

/** Those of the running Skyhook at an address. Its methods throw an ExitError when it is not reached. */
export const gatewayDeadLetterDesk = (endpoint: string): DeadLetterDesk => ({
  list: async () =>
    (await read(new URL("/dead-letters", endpoint), deadLetterListSchema)) ?? {
      deadLetters: [],
      more: 0,
    },
  async redrive(selection) {
    const asked = selection.kind === "all" ? { all: true } : { ids: selection.ids };
    return outcomes.parse(await post(new URL("/dead-letters/redrive", endpoint), asked));
  },
  async remove(ids, force) {
    return outcomes.parse(await post(new URL("/dead-letters/delete", endpoint), { ids, force }));
  },
});
