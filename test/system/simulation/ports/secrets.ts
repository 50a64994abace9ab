import type { Secrets } from "../../../../lib/platform/ports/secrets.ts";
import { HANGS, type Sandbox } from "../cloud/sandbox.ts";

/** The store of secrets as a machine reaches it. */
export const hostileSecrets = (secrets: Secrets, sandbox: Sandbox): Secrets => ({
  read: (reference) =>
    sandbox.call("secrets.read", ["secret fails", ...HANGS], async (kind) => {
      if (kind === "secret fails") throw new Error("the secret cannot be read");
      return secrets.read(reference);
    }),
});
