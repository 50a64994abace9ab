import { join } from "node:path";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { DataDirectory } from "./data-directory.ts";
import { openLevelDatabase } from "./level-database.ts";
import { createLevelLedger } from "./level-ledger.ts";
import { copyOldLedger, removeOldLedger } from "./old-ledger.ts";

/** Folder of the items, in the ledger's folder. */
const CURRENT = "items";
const HOUR_MS = 60 * 60 * 1000;

export interface LocalLedgerOptions {
  /** Where the ledger is kept, one process at a time; absent: in memory. */
  readonly data?: Pick<DataDirectory, "ledger" | "raiseFormat"> | undefined;
  /** Aborted with the error of the first write that fails. */
  readonly failing: AbortController;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LocalLedger {
  readonly ledger: Ledger;
  close(): Promise<void>;
}

/**
 * The ledger of a local run. On disk an acknowledged write outlives kill -9 and power cuts. Items that
 * have expired are removed now and every hour. The ledger of an earlier format is copied, and removed
 * when this one has been closed.
 */
export const openLocalLedger = async (options: LocalLedgerOptions): Promise<LocalLedger> => {
  const { data, failing, clock, log } = options;
  if (data) {
    const { ledger: directory, raiseFormat } = data;
    await copyOldLedger({ directory, current: CURRENT, raiseFormat });
  }
  const directory = data && join(data.ledger, CURRENT);
  const database = await openLevelDatabase({ directory, failing });
  const ledger = createLevelLedger(database);
  await ledger.removeExpired(clock.now());

  const closing = new AbortController();
  const removeHourly = async (): Promise<void> => {
    await clock.sleep(HOUR_MS, closing.signal);
    while (!closing.signal.aborted) {
      await ledger.removeExpired(clock.now()).catch((error: unknown) => {
        log.warn("expired ledger items not removed, next try in an hour", {
          errorMessage: String(error),
        });
      });
      await clock.sleep(HOUR_MS, closing.signal);
    }
  };
  const removing = removeHourly();

  return {
    ledger,
    async close() {
      closing.abort();
      await removing;
      await database.close();
      if (data && !failing.signal.aborted) await removeOldLedger(data.ledger, CURRENT);
    },
  };
};
