import { afterAll, beforeAll, inject } from "vitest";
import { describeScenarios } from "../system/scenarios/scenarios.ts";
import { type DeployedStage, openDeployedStage } from "./deployed-stage.ts";
import { testArchive } from "./stage/archive.ts";
import { testDeadLetters } from "./stage/dead-letters.ts";
import { testPermissions } from "./stage/permissions.ts";
import { testSchedules } from "./stage/schedules.ts";

/*
 * Deploying takes a quarter of a minute, and schedules tick once a minute: so one stage for everything
 * that leaves it as it was.
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
