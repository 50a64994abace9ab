import { describeCrashes } from "./laws.ts";
import { THRESHOLDS } from "./thresholds.ts";

describeCrashes(THRESHOLDS);
