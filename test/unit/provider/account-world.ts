import { setImmediate as letOthersRun } from "node:timers/promises";
import { updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import type { Account } from "../../../lib/provider/accounts.ts";
import { type AccountPorts, openAccounts } from "../../../lib/provider/accounts.ts";
import { parseAccounts } from "../../../lib/provider/accounts-config.ts";
import { rateLimits } from "../../../lib/provider/rate-limit.ts";
import { type Around, untouched } from "../../support/faults.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { type Fetch, json, startProvider } from "../../support/provider.ts";
import { createRecordingBus } from "../../support/recording-bus.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const ACCOUNT = "acme";
export const FIRST_KEY = "canary-1$a1b2c3d4e5f6";
export const SECOND_KEY = "canary-2$f6e5d4c3b2a1";
export const THIRD_KEY = "canary-3$b2c4d6e8f0a2";
const PARAMETER = "/acme/key";
const STEP_MS = 20;
/** More turns of the event loop than any chain of calls takes without waiting for the clock. */
const CALL_TURNS = 60;

type Answer = Response | undefined;

interface Sent {
  readonly at: number;
  readonly method: string;
  readonly key: string;
}

interface WorldOptions {
  readonly requestsPerSecond?: number;
  readonly maxPause?: string;
  readonly around?: Around;
  /** Duration of the next call of the ledger, in turns of the event loop. */
  readonly delay?: () => number;
}

/** Creates processes that share one account: one ledger, one secret, and the embedded service. */
export const createAccountWorld = async (options: WorldOptions = {}) => {
  const { requestsPerSecond = 100, around = untouched, delay = () => 0, maxPause } = options;
  const clock = createVirtualClock();
  const ledger = createMemoryLedger();
  const bus = createRecordingBus(ledger, "own");
  const log = createRecordingLog();
  const service = await startProvider(clock);
  const sent: Sent[] = [];
  const counted: string[] = [];
  const answers: ((request: Request) => Answer | Promise<Answer>)[] = [];
  const secret = { text: FIRST_KEY as string | undefined, reads: 0 };
  const accepted = new Set([FIRST_KEY]);
  let processes = 0;

  const tooEarly: string[] = [];
  /** Checks that the ledger holds a published state already, or a later one. */
  const expectDurable = async ({ detailType, time }: BusEntry): Promise<void> => {
    if (detailType === "AccountPaused") {
      const until = (await rateLimits.read(ledger, ACCOUNT))?.value.blockedUntil;
      if (until === undefined || until <= time) tooEarly.push(detailType);
      return;
    }
    const key = (await rateLimits.read(ledger, ACCOUNT))?.value.key;
    if (key === undefined || key.since < time) tooEarly.push(detailType);
  };

  /** The embedded service; replaces an accepted key with the service's own. */
  const provider: Fetch = async (request) => {
    const key = request.headers.get("authorization")?.slice("apikey ".length) ?? "";
    sent.push({ at: clock.now(), method: request.method, key });
    await letOthersRun();
    const answer = await answers.shift()?.(request);
    if (answer) return answer;
    const headers = new Headers(request.headers);
    if (accepted.has(key)) headers.set("authorization", `apikey ${service.apiKey}`);
    return service.fetch(new Request(request, { headers }));
  };

  /** Opens the account in a new process, as after a cold start. */
  const open = (more: Partial<AccountPorts> = {}): Account => {
    processes += 1;
    const invocation = processes;
    const slowly = async <T>(name: string, effect: () => Promise<T>): Promise<T> => {
      for (let turns = delay(); turns > 0; turns -= 1) await letOthersRun();
      return around({ name, invocation }, effect);
    };
    const config = parseAccounts({
      accounts: [
        {
          name: ACCOUNT,
          base_url: "http://provider.test",
          api_key: { parameter: PARAMETER },
          senders: ["own"],
          requests_per_second: requestsPerSecond,
          ...(maxPause !== undefined && { max_pause: maxPause }),
        },
      ],
    });
    const ports: AccountPorts = {
      ledger: {
        read: (key) => slowly(`ledger.read ${key}`, () => ledger.read(key)),
        write: (item) => slowly(`ledger.write ${item.key}`, () => ledger.write(item)),
        listDue: ledger.listDue,
        list: ledger.list,
      },
      bus: {
        publish: async (entries) => {
          try {
            return await around({ name: "bus.publish", invocation }, async () => {
              for (const entry of entries) await expectDurable(entry);
              return bus.publish(entries);
            });
          } catch (error) {
            if (error instanceof Error && error.name === "Killed") throw error;
            return entries.map(() => ({ kind: "failed", code: "fault", message: "" }) as const);
          }
        },
      },
      clock,
      random: createSeededRandom(invocation),
      log,
      metrics: {
        count: (name, dimensions) => void counted.push(`${name} ${JSON.stringify(dimensions)}`),
        measure: () => undefined,
      },
      secrets: {
        async read() {
          secret.reads += 1;
          const { text } = secret;
          await letOthersRun();
          if (text === undefined) throw new Error(`secret ${PARAMETER} cannot be read`);
          return text;
        },
      },
      environment: {},
      fetch: (request) => around({ name: "fetch", invocation }, () => provider(request)),
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      ...more,
    };
    const account = openAccounts(config, ports)(ACCOUNT);
    if (!account) throw new Error("no account");
    return account;
  };

  /**
   * Advances the clock in small steps until the work is done.
   * @param turns turns of the event loop per step; by default a call ends before the next step
   */
  const drive = async <T>(work: Promise<T>, turns = CALL_TURNS): Promise<T> => {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    while (!isDone) {
      for (let turn = 0; turn < turns && !isDone; turn += 1) await clock.advance(0);
      if (!isDone) await clock.advance(STEP_MS);
    }
    return work;
  };

  const attempt = (call: Promise<unknown>): Promise<unknown> =>
    drive(
      call.then(
        () => "answered",
        (error: unknown) => error,
      ),
    );

  return {
    clock,
    ledger,
    bus,
    log,
    sent,
    secret,
    /** Counted metrics, with dimensions. */
    counted,
    open,
    drive,
    /** Sets the provider's answer to the next request; undefined: its usual answer, a little later. */
    answerNext: (answer: (request: Request) => Answer | Promise<Answer>): void =>
      void answers.push(answer),
    /** Lets the provider accept these keys only. */
    accept(...keys: readonly string[]): void {
      accepted.clear();
      for (const key of keys) accepted.add(key);
    },
    /** Sends a read. @returns `answered`, or the error */
    read: (account: Account, signal?: AbortSignal): Promise<unknown> =>
      attempt(account.client.call(listStorageEvents, LIST, signal)),
    /** Sends a read, which the provider answers when `answer` is called. */
    async readLate(account: Account) {
      let answer = () => {};
      const late = new Promise<undefined>((resolve) => {
        answer = () => resolve(undefined);
      });
      answers.push(() => late);
      const slow = account.client.call(listStorageEvents, LIST);
      await clock.advance(0);
      return { slow, answer };
    },
    /** Sends a mutation. @returns `answered`, or the error */
    change: (account: Account): Promise<unknown> =>
      attempt(account.client.call(updatePolicy, PAUSE_POLICY)),
    ready: (account: Account, permits = 1, signal = new AbortController().signal) =>
      drive(account.ready(signal, permits)),
    /** Publishes due events, as the poller does. */
    async publishDue(): Promise<void> {
      for (const { key } of await ledger.listDue(Number.MAX_SAFE_INTEGER, 10)) {
        await rateLimits.publish({ ledger, bus, log }, key.slice("budget#".length));
      }
    },
    rateLimit: async () => (await rateLimits.read(ledger, ACCOUNT))?.value,
    /** Detail-type and data of the published events, without repeated event ids. */
    published(): readonly (readonly [string, Record<string, string>])[] {
      if (tooEarly.length > 0) throw new Error(`published before it was durable: ${tooEarly}`);
      const events = new Map(bus.published().map((event) => [event.id, event]));
      return [...events.values()].map(({ detailType, data }) => [detailType, data]);
    },
    /** Number of requests by the second in which they arrived. */
    perSecond(): ReadonlyMap<number, number> {
      const counts = new Map<number, number>();
      for (const { at } of sent) {
        const second = Math.floor(at / 1_000);
        counts.set(second, (counts.get(second) ?? 0) + 1);
      }
      return counts;
    },
  };
};

export type AccountWorld = Awaited<ReturnType<typeof createAccountWorld>>;

export const LIST = { params: {}, query: {}, body: undefined };
const PAUSE_POLICY = {
  params: { project_id: 1234567, region_id: 76, policy_id: 1 },
  query: {},
  body: { status: "paused" },
} as const;

/** A 429 with `Retry-After` in seconds; without the header if undefined. */
export const throttled = (seconds?: number): Response =>
  json(
    429,
    { message: "slow down" },
    seconds === undefined ? {} : { "retry-after": String(seconds) },
  );
