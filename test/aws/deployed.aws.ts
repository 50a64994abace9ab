import { afterAll, beforeAll, inject } from "vitest";
import { describeScenarios } from "../system/scenarios/scenarios.ts";
import { type DeployedStage, openDeployedStage } from "./deployed-stage.ts";
import { testArchive } from "./stage/archive.ts";
import { testDeadLetters } from "./stage/dead-letters.ts";
import { testPermissions } from "./stage/permissions.ts";
import { testSchedules } from "./stage/schedules.ts";

/*
 * A deployment takes 15 s, and schedules fire once a minute. So all tests that leave the stage unchanged share
 * one.
 */
let stage: DeployedStage;
beforeAll(async () => {
  stage = await openDeployedStage(inject("awsEndpoint"));
});
afterAll(() => stage?.close());

describeScenarios("deployed", () => stage, 150_000);
testArchive(() => stage);
testDeadLetters(() => stage);
testPermissions(() => stage);
testSchedules(() => stage);
