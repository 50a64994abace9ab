import { describeCrashes } from "./crash-laws.ts";
import { WITH_TASKS } from "./crash-scenarios.ts";

describeCrashes(WITH_TASKS);
