import type { Secrets } from "../../../../lib/platform/ports/secrets.ts";
import type { ApiKeys } from "../cloud/api-keys.ts";
import type { Sandbox } from "../cloud/sandbox.ts";

/** The store of secrets as a machine reaches it. */
export const hostileSecrets = (keys: ApiKeys, sandbox: Sandbox): Secrets => ({
  read: () =>
    sandbox.call("secrets.read", ["secret fails"], async (kind) => {
      if (kind === "secret fails") throw new Error("the secret cannot be read");
      return keys.stored();
    }),
});
