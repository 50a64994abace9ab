import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  type CancelAnswer,
  cancelAnswerSchema,
  type LiftAnswer,
  liftAnswerSchema,
  type ResolveAnswer,
  resolveAnswerSchema,
  type Verdict,
} from "../admin/answers.ts";
import {
  type PriceChangeView,
  type PriceView,
  priceChangeViewSchema,
  priceViewSchema,
  type ReadingView,
  readingViewSchema,
} from "../jobs/prices/memory.ts";
import { type JobName, type JobRun, jobRunSchema } from "../local/job-run.ts";
import { type PutAnswer, putAnswerSchema } from "../local/put-request.ts";
import { timeoutMsOf } from "../platform/deployment.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { type RequestState, requestStateSchema } from "./request-state.ts";

/** The running Skyhook at an address. */
export interface GatewayClient {
  /** @throws ExitError when it is not reached or does not take the request */
  send(detail: unknown): Promise<void>;
  /** Puts an event on the bus. @throws ExitError as `send` */
  put(event: unknown): Promise<PutAnswer>;
  /**
   * @param of `eventId` tells a rejection of this very request from the command that has the id;
   * `sender`: AWS account whose command it is, Skyhook's own when absent; `signal`: ends the
   * waiting for the answer
   */
  look(
    commandId: string,
    of?: {
      readonly eventId?: string;
      readonly sender?: string | undefined;
      readonly signal?: AbortSignal;
    },
  ): Promise<RequestState | undefined>;
  /** Ends a command where that can be done; undefined when there is none. */
  cancel(commandId: string, sender: string | undefined): Promise<CancelAnswer | undefined>;
  /** Keeps a person's verdict; undefined when there is no such command. */
  resolve(
    commandId: string,
    sender: string | undefined,
    verdict: Verdict,
  ): Promise<ResolveAnswer | undefined>;
  /** Ends the pause of an account; undefined when there is none of that name. */
  liftPause(account: string): Promise<LiftAnswer | undefined>;
  /** Runs a scheduled job; resolves when it has ended. @throws ExitError as `send` */
  runJob(name: JobName): Promise<JobRun>;
  /** What is watched, each with its latest price. */
  prices(): Promise<readonly PriceView[]>;
  /** Every reading of a price, newest first; undefined when nothing was ever watched under the name. */
  priceHistory(name: string): Promise<readonly ReadingView[] | undefined>;
  /** Newest first. @param since ISO 8601 */
  priceChanges(since: string): Promise<readonly PriceChangeView[]>;
}

/** A running Skyhook answers at once. */
const ANSWER_MS = 30_000;
/** A little longer than a job may take. */
const jobAnswerMs = (name: JobName): number => timeoutMsOf(name) + 10_000;

const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "TimeoutError";

const ask = async (url: URL, init?: RequestInit, limitMs = ANSWER_MS): Promise<Response> => {
  const late = AbortSignal.timeout(limitMs);
  const signal = init?.signal ? AbortSignal.any([late, init.signal]) : late;
  try {
    return await fetch(url, { ...init, signal });
  } catch (error) {
    if (isTimeout(error)) {
      const limit = `${limitMs / 1000} seconds`;
      throw new ExitError(
        EXIT.unreachable,
        `${url.origin} did not answer within ${limit}; it may be busy, try again`,
      );
    }
    throw new ExitError(
      EXIT.unreachable,
      `nothing answers at ${url.origin}; run \`npx skyhook start\` and give the address that it prints by --endpoint or SKYHOOK_ENDPOINT`,
    );
  }
};

const postRequest = (url: URL, body: unknown, limitMs?: number): Promise<Response> => {
  const headers = { "content-type": "application/json" };
  return ask(url, { method: "POST", headers, body: JSON.stringify(body) }, limitMs);
};

/** @throws ExitError unless it is accepted */
export const post = async (url: URL, body: unknown, limitMs?: number): Promise<unknown> => {
  const response = await postRequest(url, body, limitMs);
  if (response.status !== 202) throw await refusedBy(response, url);
  return response.json();
};

const refusalSchema = z.object({ error: z.string() });

const refusedBy = async (response: Response, url: URL): Promise<ExitError> => {
  const body = refusalSchema.safeParse(await response.json().catch(() => undefined));
  return body.success
    ? new ExitError(EXIT.refused, `Skyhook answers ${response.status}: ${body.data.error}`)
    : new ExitError(
        EXIT.unreachable,
        `${url.origin} is not a running Skyhook; look at the address`,
      );
};

const NO_SUCH_COMMAND = "no such command";
const NO_SUCH_PRICE = "no such price";

/** What is answered, or undefined when the answer is that there is none. */
const answerIn = async <S extends z.ZodType>(
  response: Response,
  url: URL,
  schema: S,
  noneText?: string,
): Promise<z.output<S> | undefined> => {
  if (response.ok) return schema.parse(await response.json());
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (noneText !== undefined && isDeepStrictEqual(answer, { error: noneText })) return undefined;
  throw await refusedBy(response, url);
};

const commandUrl = (
  endpoint: string,
  commandId: string,
  { act, sender }: { readonly act?: string; readonly sender: string | undefined },
): URL => {
  const path = `/commands/${encodeURIComponent(commandId)}`;
  const url = new URL(act === undefined ? path : `${path}/${act}`, endpoint);
  if (sender !== undefined) url.searchParams.set("sender", sender);
  return url;
};

/** What is answered, or undefined when the answer is that there is none. @throws ExitError */
export const read = async <S extends z.ZodType>(
  url: URL,
  schema: S,
  noneText?: string,
): Promise<z.output<S> | undefined> => answerIn(await ask(url), url, schema, noneText);

export const createGatewayClient = (endpoint: string): GatewayClient => ({
  async send(detail) {
    await post(new URL("/commands", endpoint), detail);
  },
  async put(event) {
    return putAnswerSchema.parse(await post(new URL("/events", endpoint), event));
  },
  async look(commandId, { eventId, sender, signal } = {}) {
    const url = commandUrl(endpoint, commandId, { sender });
    if (eventId !== undefined) url.searchParams.set("event", eventId);
    const response = await ask(url, signal && { signal });
    return answerIn(response, url, requestStateSchema, NO_SUCH_COMMAND);
  },
  async cancel(commandId, sender) {
    const url = commandUrl(endpoint, commandId, { act: "cancel", sender });
    return answerIn(await postRequest(url, {}), url, cancelAnswerSchema, NO_SUCH_COMMAND);
  },
  async resolve(commandId, sender, verdict) {
    const url = commandUrl(endpoint, commandId, { act: "resolve", sender });
    return answerIn(await postRequest(url, verdict), url, resolveAnswerSchema, NO_SUCH_COMMAND);
  },
  async liftPause(account) {
    const url = new URL(`/accounts/${encodeURIComponent(account)}/lift-pause`, endpoint);
    return answerIn(await postRequest(url, {}), url, liftAnswerSchema, "no such account");
  },
  async runJob(name) {
    const url = new URL(`/jobs/${name}/run`, endpoint);
    return jobRunSchema.parse(await post(url, {}, jobAnswerMs(name)));
  },
  async prices() {
    return (await read(new URL("/prices", endpoint), z.array(priceViewSchema))) ?? [];
  },
  priceHistory(name) {
    const url = new URL(`/prices/${encodeURIComponent(name)}`, endpoint);
    return read(url, z.array(readingViewSchema), NO_SUCH_PRICE);
  },
  async priceChanges(since) {
    const url = new URL("/price-changes", endpoint);
    url.searchParams.set("since", since);
    return (await read(url, z.array(priceChangeViewSchema))) ?? [];
  },
});
