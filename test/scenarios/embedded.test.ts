import { openEmbeddedStage } from "./embedded-stage.ts";
import { describeScenarios } from "./scenarios.ts";

describeScenarios("in this process", openEmbeddedStage, 15_000);
