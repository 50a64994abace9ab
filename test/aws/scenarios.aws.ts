import { inject } from "vitest";
import { describeScenarios } from "../scenarios/scenarios.ts";
import { openDeployedStage } from "./deployed-stage.ts";

describeScenarios("deployed", () => openDeployedStage(inject("awsEndpoint"), "e2e"), 180_000);
