import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { Level } from "level";
import { openDataDirectory } from "../../../lib/local/data-directory.ts";
import { openLocalLedger } from "../../../lib/local/local-ledger.ts";
import { createSystemRandom } from "../../../lib/platform/system.ts";
import { silentLog } from "../../support/logs.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

// Opens and closes the ledger of a data directory, and kills itself with SIGKILL before the n-th step.
const [, , path = "", n = ""] = process.argv;
let left = Number(n);

const dieAtCallsOf = (target: object, names: readonly string[]): void => {
  for (const name of names) {
    const original = Reflect.get(target, name);
    const value = function (this: unknown, ...args: readonly unknown[]): unknown {
      left -= 1;
      if (left === 0) process.kill(process.pid, "SIGKILL");
      return Reflect.apply(original, this, args);
    };
    Object.defineProperty(target, name, { value });
  }
};

dieAtCallsOf(promises, ["mkdir", "open", "rename", "rm"]);
syncBuiltinESMExports();
dieAtCallsOf(Level.prototype, ["open", "batch", "compactRange", "close"]);

const directory = await openDataDirectory(path, createSystemRandom());
const { close } = await openLocalLedger({
  data: directory,
  failing: new AbortController(),
  clock: createVirtualClock(),
  log: silentLog,
});
await close();
