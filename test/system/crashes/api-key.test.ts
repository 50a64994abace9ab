import { API_KEY } from "./api-key.ts";
import { describeCrashes } from "./laws.ts";

describeCrashes(API_KEY);
