import { expect, test } from "vitest";
import {
  DEMO_EVENT,
  DEMO_REACTION,
  DEMO_STRANGER,
  DEMO_TEAM,
} from "../../../lib/cli/demo/world.ts";
import type { Stage } from "./stage.ts";
import { commandEnd, isEndOf } from "./stage.ts";

const POLICY = { project_id: 1234567, region_id: 76, policy_id: 1 };

/** Events on the bus, of our own and of other AWS accounts. */
export const describeTeams = (stageOf: () => Stage): void => {
  test("lets another AWS account's event resume an instance, and publishes to that account", async () => {
    const stage = stageOf();
    const { source, "detail-type": detailType, detail } = DEMO_EVENT;
    const eventId = await stage.putFrom(DEMO_TEAM, { source, detailType, detail });
    const commandId = `${eventId}:${DEMO_REACTION}`;

    const end = await commandEnd(stage, commandId, DEMO_TEAM);
    const atTeam = await stage.teamEvents.first(
      "the end on the team's bus",
      isEndOf(DEMO_TEAM, commandId),
    );

    expect(end["detail-type"]).toBe("CommandSucceeded");
    expect(atTeam.detail).toEqual(end.detail);
  });

  test("refuses the same event of an AWS account without access", async () => {
    const stage = stageOf();
    const { source, "detail-type": detailType, detail } = DEMO_EVENT;
    const eventId = await stage.putFrom(DEMO_STRANGER, { source, detailType, detail });

    const end = await commandEnd(stage, `${eventId}:${DEMO_REACTION}`, DEMO_STRANGER);

    expect(end["detail-type"]).toBe("CommandRejected");
    expect(end.detail.data).toMatchObject({ reason: "not-allowed" });
  });

  test("accepts a command from its own AWS account as an event", async () => {
    const stage = stageOf();
    await stage.putFrom(stage.ownSender, {
      source: "scenarios",
      detailType: "CommandRequested",
      detail: {
        metadata: { commandId: "scenario-own-event" },
        data: { operation: "update-policy", params: POLICY, body: { status: "active" } },
      },
    });

    expect((await commandEnd(stage, "scenario-own-event"))["detail-type"]).toBe("CommandSucceeded");
  });

  test("accepts a command from another AWS account as an event", async () => {
    const stage = stageOf();
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

    // The team may resume instances only.
    expect((await commandEnd(stage, "scenario-by-event", DEMO_TEAM)).detail.data).toMatchObject({
      reason: "not-allowed",
    });
  });
};
