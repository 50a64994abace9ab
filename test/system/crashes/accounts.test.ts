import { ACCOUNTS } from "./accounts.ts";
import { describeCrashes } from "./laws.ts";

describeCrashes(ACCOUNTS);
