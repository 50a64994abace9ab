import { afterAll, beforeAll } from "vitest";
import { openEmbeddedStage } from "./embedded-stage.ts";
import { describeScenarios } from "./scenarios.ts";
import type { Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openEmbeddedStage();
});
afterAll(() => stage.close());

describeScenarios("in this process", () => stage, 180_000);
