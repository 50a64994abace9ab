import { AI_TASKS } from "./ai-tasks.ts";
import { describeCrashes } from "./laws.ts";

describeCrashes(AI_TASKS);
