import { describeCrashes } from "./laws.ts";
import { ENDS_WITH_TASKS, OPERATIONS_WITH_TASKS } from "./with-tasks.ts";

describeCrashes([...OPERATIONS_WITH_TASKS, ...ENDS_WITH_TASKS]);
