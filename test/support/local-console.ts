import { tokenOf } from "../../lib/console/auth.ts";
import { openConsole } from "../../lib/console/console.ts";
import type { Automation } from "../../lib/local/automation.ts";
import { createLocalAdmin } from "../../lib/local/local-admin.ts";
import { silentLog } from "./logs.ts";

/** Headers of a JSON request with the token. */
export const jsonHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
});

/** The console of a local run, at any free port. `headers` open it. */
export const openLocalConsole = async (automation: Automation) => {
  const served = await openConsole(
    {
      admin: createLocalAdmin(automation),
      token: tokenOf(automation.deps.fingerprintKey),
      allowsChanges: true,
      log: silentLog,
    },
    0,
  );
  return { ...served, endpoint: served.url, headers: jsonHeaders(served.token) };
};

export type LocalConsole = Awaited<ReturnType<typeof openLocalConsole>>;
