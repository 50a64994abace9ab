import type { Ledger } from "../platform/ports/ledger.ts";
import { commands } from "./command.ts";
import { breakAttempt } from "./command-transitions.ts";

/** More than one machine has under way. */
const MAX_UNDER_WAY = 10_000;

/**
 * Ends whatever attempts there are, so that nobody waits for their leases: for a ledger whose every
 * earlier user is known to be dead.
 */
export const breakAttempts = async (ledger: Ledger, now: number): Promise<void> => {
  const prefix = `${commands.kind}#`;
  const due = await ledger.listDue(Number.MAX_SAFE_INTEGER, MAX_UNDER_WAY);
  for (const { key } of due.filter((entry) => entry.key.startsWith(prefix))) {
    await commands.update(ledger, key.slice(prefix.length), (command) =>
      breakAttempt(command, now, now),
    );
  }
};
