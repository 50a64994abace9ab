import { INTAKE } from "./intake.ts";
import { describeCrashes } from "./laws.ts";

describeCrashes(INTAKE);
