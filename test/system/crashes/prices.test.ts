import { describeCrashes } from "./laws.ts";
import { PRICES } from "./prices.ts";

describeCrashes(PRICES);
