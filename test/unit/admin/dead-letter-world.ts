import { type DeadLetterDeps, listDeadLetters } from "../../../lib/admin/dead-letters.ts";
import { createLocalDeadLetters } from "../../../lib/local/local-dead-letters.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import { startProvider } from "../../support/provider.ts";
import { createWorld, type World } from "../../support/world.ts";

/** Receives every message until it is a dead letter. */
export const buryAll = async ({ queue }: World): Promise<void> => {
  const { maxReceiveCount } = deployment.queues.commands;
  for (let receive = 0; receive <= maxReceiveCount; receive += 1) await queue.receive(10, 0);
};

/** A test world with an admin client for its dead letters. */
export const openRecovery = async () => {
  const started: Awaited<ReturnType<typeof startProvider>>[] = [];
  const world = await createWorld({
    provider: async (clock) => {
      const provider = await startProvider(clock);
      started.push(provider);
      return provider;
    },
  });
  const { queue, clock } = world;
  const deadLetters = createLocalDeadLetters({ queue, clock, name: "commands" });
  const deps: DeadLetterDeps = {
    deadLetters,
    context: () => {
      const { ledger, access, ownSender, fingerprintKey } = world.newInvocation().deps;
      const context = { ledger, access, ownSender, fingerprintKey };
      return { ...context, reactions: undefined, now: clock.now() };
    },
  };
  const idOf = async (at = 0): Promise<string> =>
    (await listDeadLetters(deps)).deadLetters[at]?.messageId ?? "none";
  const newRouters = async () => {
    const records = await Promise.all(started.map((provider) => provider.records("routers")));
    return records.flat().filter(({ name }) => name === "new_router");
  };
  return { world, deps, deadLetters, idOf, newRouters };
};
