import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { DEMO_COMMANDS } from "../../../lib/cli/demo/commands.ts";
import { getContainer, updateContainer } from "../../../lib/contract/containers.ts";
import { getPolicy } from "../../../lib/contract/lifecycle-policies.ts";
import { EVENT_DATA } from "../../../lib/events/catalogue.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";
import type { Stage } from "./stage.ts";
import { clientOf, commandEnd, sendCommand } from "./stage.ts";
import { describeTeams } from "./teams.ts";
import { describeThresholds } from "./thresholds.ts";

const PLACE = { project_id: 1234567, region_id: 76 };
const POLICY = { ...PLACE, policy_id: 1 };
const CONTAINER = { project_id: 1186668, region_id: 148, container_name: "my-nginx" };

/**
 * Describes Skyhook's features as a user sees them, for a run in this process and for a deployed
 * stage.
 * @param stageOf returns, once tests run, an unused stage with the demo's accounts and reactions
 * @param limitMs time limit of one scenario
 */
export const describeScenarios = (name: string, stageOf: () => Stage, limitMs: number): void => {
  describe(`Skyhook (${name})`, { timeout: limitMs }, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = stageOf();
      // All commands together, so that those of one lane have to wait.
      for (const { id, operation, params, body } of DEMO_COMMANDS) {
        await send(id, {
          operation,
          params,
          ...(body !== undefined && { body: z.json().parse(body) }),
        });
      }
    }, limitMs);

    const send = (commandId: string, data: JsonObject, eventId?: string) =>
      sendCommand(stage, commandId, data, eventId);
    const endOf = (commandId: string) => commandEnd(stage, commandId);

    test.each(DEMO_COMMANDS)("runs $operation ($id) to its end", async ({ id, expected }) => {
      const end = await endOf(id);

      const { outcome, reason } = end.detail.data;
      const status = end["detail-type"].replace("Command", "").toLowerCase();
      expect(`${status}: ${outcome ?? reason}`).toBe(expected);
    });

    test("publishes the events of a command in order", async () => {
      await endOf("demo-scale-container");

      const published = stage.events.all(
        ({ detail }) => detail.metadata.commandId === "demo-scale-container",
      );

      expect(published.map((event) => event["detail-type"])).toEqual([
        "CommandAccepted",
        "TaskFinished",
        "CommandSucceeded",
      ]);
      expect(new Set(published.map(({ detail }) => detail.metadata.correlationId))).toEqual(
        new Set(["of demo-scale-container"]),
      );
    });

    test("has changed the resources at the provider", async () => {
      await endOf("demo-disable-container");

      const params = { ...PLACE, container_name: "my-container" };

      expect(
        await clientOf(stage).call(getContainer, { params, query: {}, body: undefined }),
      ).toMatchObject({ description: "scaled by the demo", is_disabled: true, task_id: null });
    });

    test("runs a command once if its message arrives twice", async () => {
      const data = { operation: "update-policy", params: POLICY, body: { name: "scenario-once" } };
      await send("scenario-twice", data, "first");
      await send("scenario-twice", data, "second");
      await endOf("scenario-twice");
      await send("scenario-behind", { ...data, body: { status: "active" } });
      await endOf("scenario-behind");

      const ofCommand = stage.events.all(
        ({ detail }) => detail.metadata.commandId === "scenario-twice",
      );

      expect(ofCommand.map((event) => event["detail-type"])).toEqual([
        "CommandAccepted",
        "CommandSucceeded",
      ]);
      expect(ofCommand[1]?.detail.data).toMatchObject({ attempts: 1 });
    });

    test("follows a task that another client started to its end", async () => {
      const { tasks } = await clientOf(stage).call(updateContainer, {
        params: CONTAINER,
        query: {},
        body: { description: "by hand" },
      });
      await send("scenario-follow", {
        operation: "follow-task",
        params: { task_id: String(tasks[0]) },
      });

      expect((await endOf("scenario-follow"))["detail-type"]).toBe("CommandSucceeded");
    });

    test("sends nothing for a dry run, and reports the request that it would send", async () => {
      await send("scenario-dry", {
        operation: "update-policy",
        params: POLICY,
        body: { name: "never-sent" },
        dryRun: true,
      });

      const end = await endOf("scenario-dry");

      expect(end.detail.data).toMatchObject({
        outcome: "dry-run",
        attempts: 0,
        wouldSend: { body: { name: "never-sent" } },
      });
      expect(
        await clientOf(stage).call(getPolicy, { params: POLICY, query: {}, body: undefined }),
      ).not.toMatchObject({ name: "never-sent" });
    });

    test("cancels a command that waits for one that fails", async () => {
      await send("scenario-waits", {
        operation: "update-policy",
        params: POLICY,
        body: { name: "never-either" },
        after: ["scenario-fails"],
      });
      await send("scenario-fails", {
        operation: "resume-instance",
        params: { ...PLACE, instance_id: "00000000-0000-4000-8000-000000000000" },
      });

      expect((await endOf("scenario-fails")).detail.data).toMatchObject({ reason: "refused" });
      expect((await endOf("scenario-waits")).detail.data).toMatchObject({ reason: "dependency" });
    });

    describeTeams(() => stage);
    describeThresholds(() => stage);

    test("has published no event that is not in the catalogue", () => {
      const events = stage.events.all(() => true);
      const schemas: Readonly<Record<string, { parse(data: unknown): unknown }>> = EVENT_DATA;

      expect(events.length).toBeGreaterThan(20);
      for (const { "detail-type": type, detail } of events) schemas[type]?.parse(detail.data);
      expect(events.filter(({ "detail-type": type }) => !(type in EVENT_DATA))).toEqual([]);
    });
  });
};
