import { type LocalLedger, openLocalLedger } from "../../lib/local/local-ledger.ts";
import type { Clock } from "../../lib/platform/ports/clock.ts";
import { silentLog } from "./logs.ts";
import { createVirtualClock } from "./virtual-clock.ts";

/** The ledger of a local run. @param folder default: in memory */
export const openLedgerIn = (
  directory: string | undefined,
  clock: Clock = createVirtualClock(),
): Promise<LocalLedger> =>
  openLocalLedger({
    data:
      directory === undefined
        ? undefined
        : { ledger: directory, raiseFormat: async () => undefined },
    failing: new AbortController(),
    clock,
    log: silentLog,
  });
