import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { syncThresholds } from "../../lib/jobs/thresholds/sync.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../lib/platform/deployment.ts";
import type { BusEntry } from "../../lib/platform/ports/bus.ts";
import type { Log } from "../../lib/platform/ports/log.ts";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { openAccounts } from "../../lib/provider/accounts.ts";
import { parseAccounts } from "../../lib/provider/accounts-config.ts";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import { silentLog } from "../support/logs.ts";
import { createMemoryLedger } from "../support/memory-ledger.ts";
import { createRecordingMetrics } from "../support/recording-metrics.ts";
import { createTextSource } from "../support/text-source.ts";

/*
 * Measures the time and memory of a sync of a thousand thresholds. The service runs in another process.
 */

const THRESHOLDS = 1_000;
/** Requests per second: the default rate limit, and the largest possible one. */
const RATE_LIMITS = [20, 1_000];
const LAMBDA_MEMORY_MB = 512;

const SUBJECT = fileURLToPath(new URL("./subjects.mjs", import.meta.url));
const urlMessage = z.object({ url: z.string() });

const configOf = (bytes: number): string =>
  `thresholds:\n${Array.from(
    { length: THRESHOLDS },
    (_, n) =>
      `  - name: reaching_used_space\n    storage_name: my-storage-prod\n    bucket_name: bucket-${n}\n    bytes: ${bytes} GiB\n`,
  ).join("")}`;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const log: Log = { ...silentLog, warn: print, error: print, with: () => log };

const measure = async (requestsPerSecond: number): Promise<void> => {
  const service = fork(SUBJECT, ["service"], { execArgv: ["--expose-gc"] });
  const [message] = await once(service, "message");
  const { url } = urlMessage.parse(message);
  const clock = createSystemClock();
  let requests = 0;
  const events: BusEntry[] = [];
  const deps = {
    ledger: createMemoryLedger(),
    clock,
    random: createSystemRandom(),
    log,
    metrics: createRecordingMetrics(),
    bus: {
      publish: async (entries: readonly BusEntry[]) => {
        events.push(...entries);
        return entries.map(() => ({ kind: "published" }) as const);
      },
    },
  };
  const config = parseAccounts({
    accounts: [{ name: "local", senders: ["own"], requests_per_second: requestsPerSecond }],
  });
  const ports = {
    ...deps,
    secrets: { read: async () => "" },
    environment: {},
    fetch: (request: Request) => {
      requests += 1;
      return fetch(request);
    },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  };
  const apiKey = async () => BUILT_IN_API_KEYS.first;
  const own = { baseUrl: url, apiKey, paths: {}, canList: true, ambiguityWindowMs: 300_000 };
  const account = openAccounts(config, ports, own)("local");
  if (!account) throw new Error("the accounts config has no account");
  const source = createTextSource();
  const sync = async (what: string, config: string): Promise<void> => {
    source.write(config);
    requests = 0;
    const startedAt = clock.now();
    const cause = { kind: "object-created", eventId: what } as const;
    await syncThresholds(
      deps,
      { account, source, cause },
      {
        endsAt: startedAt + 297_000,
        signal: new AbortController().signal,
      },
    );
    const seconds = (clock.now() - startedAt) / 1000;
    const [event] = events.splice(0);
    const bytes = Buffer.byteLength(JSON.stringify(event?.detail));
    const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
    print(
      `  ${what.padEnd(22)}${String(requests).padStart(6)} requests${seconds.toFixed(1).padStart(7)} s   event ${Math.round(bytes / 1000)} kB   peak ${peakMb} MB`,
    );
    if (peakMb > LAMBDA_MEMORY_MB)
      throw new Error(`peak of ${peakMb} MB, but the function has ${LAMBDA_MEMORY_MB} MB`);
  };

  print(`${THRESHOLDS} thresholds at ${requestsPerSecond} requests per second:`);
  await sync("all created", configOf(500));
  await sync("nothing to change", configOf(500));
  await sync("all updated", configOf(501));
  await sync("all deleted", "prune: true\nthresholds: []\n");
  service.kill();
};

for (const requestsPerSecond of RATE_LIMITS) await measure(requestsPerSecond);
