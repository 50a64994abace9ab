import { connectionLost, type Fetch, json } from "../../../support/provider.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import type { Sandbox } from "../cloud/sandbox.ts";
import type { Chance } from "../engine/chance.ts";
import { AMBIGUITY_WINDOW_MS } from "../plan/plan.ts";

const MUTATION_KINDS = [
  "stalls",
  "503 after",
  "504 after",
  "reset after",
  "cut off",
  "unknown words",
];
const ANSWER_LOST: ReadonlySet<string> = new Set(["503 after", "504 after", "reset after"]);
const READ_KINDS = ["cut off", "unknown words"];
const DAMAGING: ReadonlySet<string> = new Set(READ_KINDS);
const KINDS = [
  "429",
  "429 for long",
  "503 before",
  "504 before",
  "reset before",
  "no connection",
  "401",
];

const connectionRefused = (): TypeError =>
  new TypeError("fetch failed", {
    cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED", syscall: "connect" }),
  });

const html504 = (): Response =>
  new Response("<html><body><h1>504 Gateway Time-out</h1></body></html>", {
    status: 504,
    headers: { "content-type": "text/html" },
  });

/**
 * The response in place of the provider's answer; undefined when the request passes. @throws
 * TypeError when the connection is lost
 */
const insteadOf = (kind: string | undefined, retryAfterSeconds: number): Response | undefined => {
  switch (kind) {
    case "429":
      return json(429, { message: "too many requests" });
    case "429 for long":
      return json(429, { message: "slow down" }, { "retry-after": String(retryAfterSeconds) });
    case "503 before":
    case "503 after":
      return json(503, { message: "service unavailable" });
    case "504 before":
    case "504 after":
      return html504();
    case "401":
      return json(401, { error: "token_not_valid" });
    case "reset before":
    case "reset after":
      throw connectionLost();
    case "no connection":
      throw connectionRefused();
    default:
      return undefined;
  }
};

/** The provider's answer, damaged by the fault. */
const damaged = (kind: string | undefined, status: number, text: string): Response => {
  if (kind === "unknown words" && status === 200) return json(200, { ok: true });
  const body = kind === "cut off" ? text.slice(0, -5) || "<html>" : text;
  const isEmpty = status === 204 && body === "";
  return new Response(isEmpty ? null : body, {
    status: status === 204 && !isEmpty ? 200 : status,
    headers: { "content-type": "application/json" },
  });
};

/** A request on its way. */
export interface Sent {
  readonly request: Request;
  readonly body: string;
  readonly isMutation: boolean;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /**
   * All tasks that a list has as running, on any page: the instant of creation (epoch ms) by id; absent
   * where that is unknown.
   */
  readonly open?: (() => ReadonlyMap<string, number>) | undefined;
  /** All tasks that a list has as ended, on any page; absent where that is unknown. */
  readonly ended?: (() => ReadonlySet<string>) | undefined;
  /** Reports that the caller never gets this answer. */
  readonly lose: () => void;
}

/** A response that a machine receives. */
export interface Received {
  readonly request: Request;
  readonly response: Response;
  /** The provider's answer without damage; absent when another response came in its place, or it was damaged. */
  readonly whole: Answer | undefined;
  /** When the request left, epoch ms on the machine's clock. */
  readonly sentAt: number;
}

export interface HostileProviderOptions {
  readonly timeline: VirtualClock;
  readonly chance: Chance;
  /** Longest time of a response on its way, ms. */
  readonly replyMs?: number;
  /** Shortest and longest pause that a 429 asks for, s. */
  readonly pauseSeconds?: readonly [number, number];
  /** Called when a machine receives a response. */
  readonly received: (received: Received) => void;
  /** Called when a request leaves. */
  readonly leaves: (sent: Sent) => () => Promise<Answer>;
}

/** The provider as a machine reaches it over the network. */
export const hostileProvider = (
  sandbox: Sandbox,
  {
    timeline,
    chance,
    replyMs = 0,
    pauseSeconds = [1, 40],
    leaves,
    received,
  }: HostileProviderOptions,
): Fetch => {
  /** The request takes effect within the ambiguity window, or never; its caller gets no answer. */
  const stall = (place: string, arrive: () => Promise<Answer>): void => {
    // The last moment is as likely as any other instant: there an assumption breaks.
    const earliest = chance.pick(`earliest ${place}`, [0, Math.round(AMBIGUITY_WINDOW_MS * 0.9)]);
    const delayMs = chance.between(`stall ${place}`, earliest, AMBIGUITY_WINDOW_MS - 1);
    if (!chance.happens(`acts ${place}`, 0.7)) return;
    timeline.after(delayMs, () => {
      void timeline.standStill(arrive).then(({ lose }) => lose());
    });
  };

  const travel = async (
    kind: string | undefined,
    place: string,
    arrive: () => Promise<Answer>,
  ): Promise<{ readonly response: Response; readonly whole?: Answer } | undefined> => {
    if (kind === "stalls") stall(place, arrive);
    // Frozen: the attempt timed out while the machine was suspended, because timers run before sockets.
    if (kind === "stalls" || kind === "frozen") return undefined;
    const answer = kind && ANSWER_LOST.has(kind) ? await arrive() : undefined;
    answer?.lose();
    const instead = insteadOf(kind, chance.between(`pause ${place}`, ...pauseSeconds));
    if (instead) return { response: instead };
    const given = answer ?? (await arrive());
    const response = damaged(kind, given.status, given.text);
    return kind !== undefined && DAMAGING.has(kind) ? { response } : { response, whole: given };
  };

  return async (request) => {
    const body = request.method === "GET" ? "" : await timeline.standStill(() => request.text());
    const { pathname } = new URL(request.url);
    const isMutation = request.method !== "GET" && !pathname.includes("/pricing/");
    const sentAt = sandbox.clock.now();
    const arrive = leaves({ request, body, isMutation });
    const kinds = [...(isMutation ? MUTATION_KINDS : READ_KINDS), ...KINDS];
    let delayMs = 0;
    const got = await sandbox.call(`fetch ${request.method} ${pathname}`, kinds, (kind, place) => {
      delayMs = chance.between(`reply ${place}`, 0, replyMs);
      // A slow machine aborts it before it leaves. A request that arrives late is one that stalls.
      if (request.signal.aborted) return Promise.resolve(undefined);
      return travel(kind, place, arrive);
    });
    if (!got) return new Promise<never>(() => {});
    if (delayMs > 0) await sandbox.clock.sleep(delayMs);
    // A caller that has aborted gets no more answers.
    const { response, whole } = got;
    if (!request.signal.aborted) received({ request, response, whole, sentAt });
    return response;
  };
};
