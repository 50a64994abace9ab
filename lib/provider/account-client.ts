import type { Operation, Reply } from "../contract/operation.ts";
import type { EventBus } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { HeldKey } from "./api-key.ts";
import {
  type Client,
  type ClientOptions,
  createClient,
  notSent,
  type OperationRequest,
  readApiKey,
  unlessAborted,
} from "./client.ts";
import { ProviderError } from "./provider-error.ts";
import { acceptKey, blockBudget, budgets, newBudget, refuseKey } from "./rate-limit.ts";
import type { Readiness, Turns } from "./rate-limiter.ts";

type Budget = Parameters<typeof blockBudget>[0];

/** What the provider's answers say to everybody who uses the account. None of it ever rejects. */
export interface BudgetNotes {
  /** @returns whether the ledger has it, so that every process obeys it */
  blockedUntil(until: number): Promise<boolean>;
  /** @param sentAt when the refused request left, epoch ms */
  keyRefused(sentAt: number): Promise<void>;
  keyAccepted(sentAt: number): Promise<void>;
}

interface NoteDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
}

export const createBudgetNotes = (deps: NoteDeps, account: string): BudgetNotes => {
  const { ledger, clock, log } = deps;

  /** The call has its answer already: a ledger that is away must not take it back. */
  const note = async (next: (budget: Budget) => Budget): Promise<boolean> => {
    try {
      const { value } = await budgets.change(ledger, account, (budget = newBudget(account)) =>
        next(budget),
      );
      if (value.outbox.length > 0) await budgets.publishOrLeave(deps, account);
      return true;
    } catch (error) {
      log.warn(
        "what the provider said to the account is not noted, the next answer says it again",
        {
          account,
          errorMessage: error instanceof Error ? error.message : String(error),
        },
      );
      return false;
    }
  };

  return {
    async blockedUntil(until) {
      let isReported = false;
      const isNoted = await note((budget) => {
        const next = blockBudget(budget, { now: clock.now(), until });
        isReported = next.outbox.at(-1) !== budget.outbox.at(-1);
        return next;
      });
      if (isNoted && isReported) {
        const fields = { account, until: new Date(until).toISOString() };
        log.warn("the provider asks for a long pause, no request of the account leaves", fields);
      }
      return isNoted;
    },
    async keyRefused(sentAt) {
      await note((budget) => refuseKey(budget, { now: clock.now(), sentAt }));
    },
    async keyAccepted(sentAt) {
      await note((budget) => acceptKey(budget, { now: clock.now(), sentAt }));
    },
  };
};

/** How long a call waits for its turn. */
const MAX_TURN_WAIT_MS = 5_000;
/** Of a provider that asks for a pause and does not say how long. */
const DEFAULT_PAUSE_MS = 1_000;
/** With the key it began with, with the one that another call has read since, and with a newer one. */
const MAX_SENDS = 3;

interface Attempt {
  readonly key: string;
  readonly signal: AbortSignal;
  /** This one included. */
  readonly sends: number;
}

type Wait = Extract<Readiness, { kind: "wait" }>;

const WHY: Readonly<Record<Wait["because"], string>> = {
  "budget-spent": "the request budget is spent",
  "key-refused": "the API key is refused",
  paused: "the provider wants a pause",
};

const isCode = (error: unknown, code: ProviderError["code"]): error is ProviderError =>
  error instanceof ProviderError && error.code === code;

/**
 * Statuses that show nothing of the key: a gateway may answer them before anybody has looked at it, and
 * many answer 403 to one that was taken back.
 */
const SHOW_NOTHING = new Set([401, 403, 408, 429]);

const showsThatKeyIsTaken = (error: unknown): boolean => {
  if (!(error instanceof ProviderError)) return false;
  const { status, code } = error;
  if (status === undefined) return code === "reply-unreadable" || code === "reply-unexpected";
  return status >= 400 && status < 500 && !SHOW_NOTHING.has(status);
};

export interface AccountClientOptions {
  readonly account: string;
  readonly provider: Omit<ClientOptions, "apiKey">;
  readonly key: HeldKey;
  readonly turns: Turns;
  readonly notes: BudgetNotes;
  readonly metrics: Metrics;
}

/**
 * The client of an account: each request has a turn in the account's budget, a request that was
 * refused with a key that was replaced is sent again with the new one, and what an answer says to
 * all (a pause, a refused key) is noted for all.
 *
 * Beside what every client throws: ProviderError `budget-spent`, `paused` or `key-refused`, throttled
 * and with `retryAfterMs`, or `budget-unavailable`, transient, when nothing was sent.
 */
export const createAccountClient = (options: AccountClientOptions): Client => {
  const { account, provider, key: heldKey, turns, notes, metrics } = options;
  const { clock } = provider;

  /** @throws ProviderError when there is no turn in time; nothing was sent */
  const awaitTurn = async (
    operation: Operation,
    signal: AbortSignal,
    hasNewKey: boolean,
  ): Promise<void> => {
    const request = { maxWaitMs: MAX_TURN_WAIT_MS, signal, hasNewKey };
    const turn = await turns.take(request).catch((cause: unknown) => {
      const message = `${operation.id}: not sent, the request budget cannot be read`;
      const code = "budget-unavailable";
      throw new ProviderError({ disposition: "transient", code, message, cause });
    });
    if (turn.kind === "aborted") throw notSent(operation);
    if (turn.kind === "ready") return;
    throw new ProviderError({
      disposition: "throttled",
      code: turn.because,
      message: `${operation.id}: not sent, ${WHY[turn.because]}`,
      retryAfterMs: Math.max(1, turn.until - clock.now()),
    });
  };

  /** What an answer says to everybody who uses the account; a refused key is not one of these. */
  const heed = async (error: unknown, sentAt: number): Promise<void> => {
    if (isCode(error, "throttled")) {
      const until = clock.now() + (error.retryAfterMs ?? DEFAULT_PAUSE_MS);
      turns.pause(until);
      if (await notes.blockedUntil(until)) turns.leavePause(until);
    }
    if (turns.isKeyRefused() && showsThatKeyIsTaken(error)) await notes.keyAccepted(sentAt);
  };

  const send = async <O extends Operation>(
    operation: O,
    request: OperationRequest<O>,
    { key, signal }: Pick<Attempt, "key" | "signal">,
  ): Promise<Reply<O>> => {
    const sentAt = clock.now();
    const client = createClient({ ...provider, apiKey: async () => key });
    const reply = await client.call(operation, request, signal).catch(async (error: unknown) => {
      await heed(error, sentAt);
      throw error;
    });
    if (turns.isKeyRefused()) await notes.keyAccepted(sentAt);
    return reply;
  };

  /** The key that a refused request is to be sent again with. */
  const keyAfter = (refused: string, signal: AbortSignal): Promise<string | undefined> =>
    // Where no other can be read, this one is refused all the same, and everybody is to know.
    unlessAborted(heldKey.after(refused), signal).catch(() => undefined);

  const sendWith = async <O extends Operation>(
    operation: O,
    request: OperationRequest<O>,
    { key, signal, sends }: Attempt,
  ): Promise<Reply<O>> => {
    const sentAt = clock.now();
    try {
      return await send(operation, request, { key, signal });
    } catch (error) {
      if (!isCode(error, "key-refused")) throw error;
      const next = sends < MAX_SENDS ? await keyAfter(key, signal) : undefined;
      // A refused key means that nothing took effect, of a mutation either.
      if (next !== undefined) {
        // It was sent, so nobody may read that it was not: without another turn it is refused.
        await awaitTurn(operation, signal, true).catch(() => {
          throw error;
        });
        return sendWith(operation, request, { key: next, signal, sends: sends + 1 });
      }
      metrics.count("AccountKeyRefused", { account });
      turns.discard();
      await notes.keyRefused(sentAt);
      throw error;
    }
  };

  return {
    async call(operation, request, signal = new AbortController().signal) {
      // Before the turn, which would be over when a key has to be read first.
      const key = await readApiKey(operation, heldKey.current, signal);
      await awaitTurn(operation, signal, false);
      return sendWith(operation, request, { key, signal, sends: 1 });
    },
  };
};
