import { LANES } from "./lanes.ts";
import { describeCrashes } from "./laws.ts";

describeCrashes(LANES);
