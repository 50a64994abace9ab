import { describeCrashes } from "./crash-laws.ts";
import { IMMEDIATE } from "./crash-scenarios.ts";

describeCrashes(IMMEDIATE);
