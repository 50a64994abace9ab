import * as z from "zod";
import type { CancelAnswer } from "../../../../lib/admin/answers.ts";
import { cancelCommand, resolveCommand } from "../../../../lib/admin/operator-actions.ts";
import { commands } from "../../../../lib/engine/command.ts";
import { createLambda } from "../../../../lib/local/lambda.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { Deed } from "../plan/deeds.ts";
import { type SimulatedMachine, type Surroundings, startMachine } from "./machines.ts";

type Deps = SimulatedMachine["commands"];

/** An operator gives up after this time. */
const PATIENCE_MS = 40 * 60_000;
/** AWS refuses requests from clocks that differ by more than five minutes. */
const SKEW = { first: 240_000, most: 290_000 };
const MAX_TRIES = 5;
/** By then the poller has usually published the event of the first finding. */
const AGAIN_MS = 60_000;
const PREFIX = `${commands.kind}#`;
const unknownSchema = z.object({ state: z.object({ reason: z.literal("unknown-outcome") }) });
const endedSchema = z.object({ state: z.object({ endedAt: z.number() }) });

type Finding = Pick<Extract<Deed, { kind: "resolve" }>, "applied" | "isCareless" | "lateMs">;

/** Operators, each with a machine and clock of their own, who act through the `skyhook` command. */
export interface People {
  cancel(command: string): Promise<void>;
  /** Resolves unknown outcomes from now on, after `lateMs`. */
  resolveAll(finding: Finding): void;
  areBusy(): boolean;
}

export const createPeople = (around: Surroundings): People => {
  const { ledger, timeline } = around;
  let pending = 0;
  const people = createLambda({
    name: "person",
    timeoutMs: PATIENCE_MS,
    startMachine: (name) => startMachine(name, around, SKEW),
    clock: timeline,
    random: createSeededRandom(5),
    stopping: new AbortController().signal,
  });

  /** Repeats a failed call, as an operator does. */
  const trying = async (work: (deps: Deps) => Promise<void>): Promise<void> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const ending = await people.invoke(({ commands: deps }) => work(deps));
      if (ending.kind !== "failed") return;
    }
  };

  const cancel = async (deps: Deps, command: string): Promise<void> => {
    let answer: CancelAnswer | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      answer = await cancelCommand(deps, command);
      if (answer?.kind !== "under-way") return;
      await deps.clock.sleep(answer.waitMs);
    }
  };

  const resolve = async (deps: Deps, command: string, applied: boolean): Promise<void> => {
    await resolveCommand(deps, command, { applied });
  };

  /** Careless operators resolve it otherwise at the same time, and again after its event. */
  const resolveAs = async (command: string, { applied, isCareless }: Finding): Promise<void> => {
    const resolveAll = (findings: readonly boolean[]): Promise<unknown> =>
      Promise.all(findings.map((each) => trying((deps) => resolve(deps, command, each))));
    await resolveAll(isCareless ? [applied, !applied] : [applied]);
    if (!isCareless) return;
    await timeline.sleep(AGAIN_MS);
    await resolveAll([applied, !applied]);
  };

  return {
    cancel: (command) => trying((deps) => cancel(deps, command)),
    resolveAll(finding) {
      const found = new Set<string>();
      const schema = finding.isCareless ? endedSchema : unknownSchema;
      ledger.onWrite(({ key, value }) => {
        if (!key.startsWith(PREFIX) || found.has(key) || !schema.safeParse(value).success) return;
        found.add(key);
        pending += 1;
        timeline.after(finding.lateMs, () => {
          void resolveAs(key.slice(PREFIX.length), finding).finally(() => {
            pending -= 1;
          });
        });
      });
    },
    areBusy: () => people.underWay() + pending > 0,
  };
};
