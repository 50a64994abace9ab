import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { getContainer, updateContainer } from "../../lib/contract/containers.ts";
import { getPolicy } from "../../lib/contract/lifecycle-policies.ts";
import { listStorageEvents } from "../../lib/contract/storage-events.ts";
import { EVENT_DATA } from "../../lib/events/catalogue.ts";
import { DEMO_COMMANDS } from "../../lib/local/demo.ts";
import { DEMO_EVENT, DEMO_REACTION, DEMO_STRANGER, DEMO_TEAM } from "../../lib/local/demo-teams.ts";
import type { JsonObject } from "../../lib/ports/ledger.ts";
import { clientOf, sendCommand } from "./asking.ts";
import { thresholdsOf } from "./configs.ts";
import type { Published, Stage } from "./stage.ts";

const PLACE = { project_id: 1234567, region_id: 76 };
const POLICY = { ...PLACE, policy_id: 1 };
const CONTAINER = { project_id: 1186668, region_id: 148, container_name: "my-nginx" };

const ENDS = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled", "CommandRejected"]);

/**
 * What Skyhook is for, from its outside: the same for a run in this process and for a deployed one.
 * @param stageOf gives, once tests run, a stage with the demo's accounts and reactions on which nothing
 *   has been done
 * @param limitMs the longest that a scenario may take
 */
export const describeScenarios = (name: string, stageOf: () => Stage, limitMs: number): void => {
  describe(`Skyhook (${name})`, { timeout: limitMs }, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = stageOf();
      // All at once: those of one lane have to wait for each other.
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
    const isEndOf =
      (commandId: string, sender = stage.ownSender) =>
      ({ "detail-type": type, detail: { metadata } }: Published) =>
        ENDS.has(type) && metadata.commandId === commandId && metadata.sender === sender;
    const endOf = (commandId: string, sender?: string) =>
      stage.events.first(`the end of ${commandId}`, isEndOf(commandId, sender));

    test.each(DEMO_COMMANDS)(
      "runs $operation ($id) to its end",
      async ({ id, expect: expected }) => {
        const end = await endOf(id);

        const { outcome, reason } = end.detail.data;
        expect({
          status: end["detail-type"].replace("Command", "").toLowerCase(),
          ...(outcome && { outcome }),
          ...(reason && { reason }),
        }).toEqual(expected);
      },
    );

    test("tells of a command's way in order", async () => {
      await endOf("demo-scale-container");

      const told = stage.events.all(
        ({ detail }) => detail.metadata.commandId === "demo-scale-container",
      );

      expect(told.map((event) => event["detail-type"])).toEqual([
        "CommandAccepted",
        "TaskFinished",
        "CommandSucceeded",
      ]);
      expect(new Set(told.map(({ detail }) => detail.metadata.correlationId))).toEqual(
        new Set(["of demo-scale-container"]),
      );
    });

    test("has changed what the provider has", async () => {
      await endOf("demo-disable-container");

      const params = { ...PLACE, container_name: "my-container" };

      expect(
        await clientOf(stage).call(getContainer, { params, query: {}, body: undefined }),
      ).toMatchObject({ description: "scaled by the demo", is_disabled: true, task_id: null });
    });

    test("runs a command once whose message comes twice", async () => {
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

    test("follows a task that somebody else has started to its end", async () => {
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

    test("sends nothing for a dry run, and tells what it would send", async () => {
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

    test("lets another AWS account's event resume an instance, and tells that account", async () => {
      const { source, "detail-type": detailType, detail } = DEMO_EVENT;
      const eventId = await stage.putFrom(DEMO_TEAM, { source, detailType, detail });
      const commandId = `${eventId}:${DEMO_REACTION}`;

      const end = await endOf(commandId, DEMO_TEAM);
      const atTeam = await stage.teamEvents.first(
        "the end on the team's bus",
        isEndOf(commandId, DEMO_TEAM),
      );

      expect(end["detail-type"]).toBe("CommandSucceeded");
      expect(atTeam.detail).toEqual(end.detail);
    });

    test("refuses the same event of an AWS account that may not", async () => {
      const { source, "detail-type": detailType, detail } = DEMO_EVENT;
      const eventId = await stage.putFrom(DEMO_STRANGER, { source, detailType, detail });

      const end = await endOf(`${eventId}:${DEMO_REACTION}`, DEMO_STRANGER);

      expect(end["detail-type"]).toBe("CommandRejected");
      expect(end.detail.data).toMatchObject({ reason: "not-allowed" });
    });

    test("takes a command from another AWS account as an event", async () => {
      await stage.putFrom(DEMO_TEAM, {
        source: "billing",
        detailType: "CommandRequested",
        detail: {
          metadata: { commandId: "scenario-by-event" },
          data: {
            operation: "update-policy",
            params: { project_id: 1186668, region_id: 148, policy_id: 1 },
            body: { status: "paused" },
          },
        },
      });

      // It may resume instances only.
      expect((await endOf("scenario-by-event", DEMO_TEAM)).detail.data).toMatchObject({
        reason: "not-allowed",
      });
    });

    test("makes the provider's thresholds equal to a config whenever it is written", async () => {
      await stage.writeThresholds(thresholdsOf("500 GiB"));
      await stage.events.first(
        "the first sync",
        ({ "detail-type": type, detail }) =>
          type === "ThresholdsSynced" && detail.data.counts.created === 2,
      );
      await stage.writeThresholds(thresholdsOf("18446744073709551615"));

      const changed = await stage.events.first(
        "the second sync",
        ({ "detail-type": type, detail }) =>
          type === "ThresholdsSynced" && detail.data.counts.updated === 1,
      );

      expect(changed.detail.data).toMatchObject({
        outcome: "complete",
        cause: "object-created",
        changes: [
          {
            action: "update",
            bucket_name: "scenario-photos",
            before: { bytes: "536870912000" },
            after: { bytes: "18446744073709551615" },
          },
        ],
      });
      const listed = await clientOf(stage).call(listStorageEvents, {
        params: {},
        query: {},
        body: undefined,
      });
      expect(listed.reaching_used_space).toContainEqual(
        expect.objectContaining({
          bucket_name: "scenario-photos",
          bytes: "18446744073709551615",
        }),
      );
    });

    test("changes nothing by a config that cannot be read, and tells the line", async () => {
      await stage.writeThresholds(`${thresholdsOf("1 GiB")}  - name: nonsense\n`);

      const rejected = await stage.events.first(
        "the rejection",
        (event) =>
          event["detail-type"] === "ThresholdsRejected" && event.detail.data.reason === "invalid",
      );

      expect(rejected.detail.data.problems).toMatchObject([{ line: 9 }]);
    });

    test("has published nothing that the catalogue does not have", () => {
      const events = stage.events.all(() => true);
      const schemas: Readonly<Record<string, { parse(data: unknown): unknown }>> = EVENT_DATA;

      expect(events.length).toBeGreaterThan(20);
      for (const { "detail-type": type, detail } of events) schemas[type]?.parse(detail.data);
      expect(events.filter(({ "detail-type": type }) => !(type in EVENT_DATA))).toEqual([]);
    });
  });
};
