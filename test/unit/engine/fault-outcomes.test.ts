import { expect, it } from "vitest";
import { parseFault } from "../../../lib/service/fault-text.ts";
import { createFaults } from "../../../lib/service/faults.ts";
import { startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createWorld } from "../../support/world.ts";

/** Skyhook in front of the service with rules in the notation of `--fault`. */
const startFaulty = async (rules: readonly string[]) => {
  const records: Awaited<ReturnType<typeof startProvider>>["records"][] = [];
  let sent = 0;
  const world = await createWorld({
    provider: async (clock) => {
      const provider = await startProvider(clock);
      const faults = createFaults({ clock, random: createSeededRandom(3) });
      for (const rule of rules) faults.add(parseFault(rule));
      records.push(provider.records);
      return {
        ...provider,
        fetch: (request) => {
          if (request.method !== "GET") sent += 1;
          return faults.handle(request, () => provider.fetch(request));
        },
      };
    },
  });
  const [read] = records;
  if (!read) throw new Error("the world has not requested a provider");
  return { world, records: read, sent: () => sent };
};

/** The rules, the request, and the last event with the number of requests that changed something or tried to. */
it.each<[string, object, string, object, number]>([
  [
    "create-router=lost-reply-before:1x",
    requests.createRouter("c1"),
    "CommandSucceeded",
    { lostReplies: 1 },
    2,
  ],
  [
    "create-router=lost-reply-after:1x",
    requests.createRouter("c1"),
    "CommandSucceeded",
    { lostReplies: 1 },
    1,
  ],
  [
    "create-router=truncated:1x",
    requests.createRouter("c1"),
    "CommandSucceeded",
    { lostReplies: 1 },
    1,
  ],
  [
    "create-router=unexpected-body:1x",
    requests.createRouter("c1"),
    "CommandSucceeded",
    { lostReplies: 1 },
    1,
  ],
  [
    "create-router=lost-reply-after:1x list-tasks=status",
    requests.createRouter("c1"),
    "CommandFailed",
    { reason: "unknown-outcome", lostReplies: 1 },
    1,
  ],
  [
    "update-policy=reset:1x",
    requests.updatePolicy("c1"),
    "CommandSucceeded",
    { lostReplies: 1, attempts: 2 },
    2,
  ],
  [
    "update-policy=status:1x,code=503",
    requests.updatePolicy("c1"),
    "CommandSucceeded",
    { lostReplies: 1 },
    2,
  ],
  [
    "update-policy=status:1x,code=400",
    requests.updatePolicy("c1"),
    "CommandFailed",
    {
      reason: "refused",
      problems: [{ rule: expect.stringContaining("injected by a fault rule: status 400") }],
    },
    1,
  ],
  [
    "update-policy=throttled:1x,retry-after=130s",
    requests.updatePolicy("c1"),
    "CommandSucceeded",
    { lostReplies: 0 },
    2,
  ],
  [
    "update-policy=lost-reply-after",
    requests.updatePolicy("c1"),
    "CommandFailed",
    { reason: "unknown-outcome", durationMs: 7_200_000 },
    expect.any(Number),
  ],
  [
    "update-pool=lost-reply-after:1x",
    requests.updatePool("c1"),
    "CommandSucceeded",
    { lostReplies: 1, attempts: 2 },
    2,
  ],
  [
    "get-task=reset:3x get-task=truncated:2x",
    requests.updateContainer("c1"),
    "CommandSucceeded",
    { lostReplies: 0 },
    1,
  ],
])("with %s a command ends as documented", async (rules, request, type, data, sent) => {
  const faulty = await startFaulty(rules.split(" "));

  await faulty.world.send(request);
  await faulty.world.untilQuiet();

  expect(faulty.world.publishedTypes("c1").at(-1)).toBe(type);
  expect(faulty.world.bus.published().at(-1)?.data).toMatchObject(data);
  expect(faulty.sent()).toEqual(sent);
  // A creation takes effect once, also if Skyhook could not find out.
  const tasks = await faulty.records("tasks");
  const created = tasks.filter(({ plan }) => plan?.work?.kind === "create-router");
  const finished = (await faulty.records("routers")).filter(({ name }) => name === "new_router");
  expect(created.length + finished.length).toBe(rules.startsWith("create-router") ? 1 : 0);
});
