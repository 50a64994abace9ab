import { ENDS_AT_ONCE, OPERATIONS_AT_ONCE } from "./at-once.ts";
import { describeCrashes } from "./laws.ts";

describeCrashes([...OPERATIONS_AT_ONCE, ...ENDS_AT_ONCE]);
