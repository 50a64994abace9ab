import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { DEMO_ACCOUNTS, DEMO_REACTIONS, DEMO_TEAM } from "../../../lib/cli/demo/world.ts";
import { readReactions } from "../../../lib/intake/config-files.ts";
import type { BusEvent } from "../../../lib/local/local-bus.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";
import { openQuietly } from "../../unit/local/open-quietly.ts";
import { describeScenarios } from "./scenarios.ts";
import { createEventLog, type EventLog, publishedSchema, type Stage } from "./stage.ts";

const TASK_MS = 100;
const LIMIT_MS = 10_000;

const demoConfigs = () => {
  const accounts = readAccountsFile(DEMO_ACCOUNTS);
  if (accounts.kind === "invalid") throw new Error(JSON.stringify(accounts.problems));
  const context = { accounts: accounts.value, eventSource: "skyhook" };
  const reactions = readReactions(DEMO_REACTIONS, context);
  if (reactions.kind === "invalid") throw new Error(JSON.stringify(reactions.problems));
  return { accounts: accounts.value, reactions: reactions.value };
};

const addTo = (log: EventLog) => async (event: BusEvent) => log.add(publishedSchema.parse(event));

/** Starts a run in this process, as `skyhook start` does. */
const openEmbeddedStage = async (): Promise<Stage> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-scenarios-"));
  const thresholdsFile = join(folder, "thresholds.yaml");
  await writeFile(thresholdsFile, "thresholds: []\n");
  const automation = await openQuietly({
    provider: { kind: "embedded", port: 0, taskDurationMs: TASK_MS, apiKey: "scenarios" },
    jobs: { thresholdsFile },
    ...demoConfigs(),
  });
  const events = createEventLog(LIMIT_MS);
  const teamEvents = createEventLog(LIMIT_MS);
  automation.bus.subscribeToOwn(addTo(events));
  automation.routes.subscribeAs(DEMO_TEAM, addTo(teamEvents));
  automation.start();
  return {
    ownSender: LOCAL_SENDER,
    provider: { baseUrl: automation.provider.baseUrl, apiKey: "scenarios" },
    events,
    teamEvents,
    send: (body, groupId, deduplicationId) =>
      automation.deps.queue.send({ body: JSON.stringify(body), groupId, deduplicationId }),
    async putFrom(account, { source, detailType, detail }) {
      const put = { account, source, "detail-type": detailType, detail };
      return (await automation.routes.put(put)).id;
    },
    writeThresholds: (text) => writeFile(thresholdsFile, text),
    async close() {
      await automation.stop();
      await rm(folder, { recursive: true });
    },
  };
};

let stage: Stage;
beforeAll(async () => {
  stage = await openEmbeddedStage();
});
afterAll(() => stage.close());

describeScenarios("in this process", () => stage, 180_000);
