import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  type PriceChangeView,
  type PriceView,
  priceChangeViewSchema,
  priceViewSchema,
  type ReadingView,
  readingViewSchema,
} from "../prices/views.ts";
import { EXIT, ExitError } from "./exit-code.ts";

const viewSchema = z.looseObject({
  commandId: z.string(),
  operation: z.string(),
  status: z.string(),
  lane: z.string(),
  attempts: z.int(),
  lastError: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  after: z.array(z.string()).optional(),
  wouldSend: z
    .object({ method: z.string(), path: z.string(), body: z.json().optional() })
    .optional(),
  tag: z.object({ key: z.string(), value: z.string() }).nullable().optional(),
  taskIds: z.array(z.string()),
  createdResources: z.record(z.string(), z.array(z.union([z.string(), z.int()]))).optional(),
  acceptedAt: z.string(),
  endedAt: z.string().optional(),
  deadline: z.string(),
});

const sentRequestSchema = z.discriminatedUnion("kind", [
  viewSchema.extend({ kind: z.literal("command") }),
  z.looseObject({
    kind: z.literal("rejected"),
    operation: z.string(),
    reason: z.string(),
    problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  }),
]);

export type RequestState = z.output<typeof sentRequestSchema>;
export type CommandState = Extract<RequestState, { kind: "command" }>;

/** The running Skyhook at an address. */
export interface GatewayClient {
  /** @throws ExitError when it is not reached or does not take the request */
  send(detail: unknown): Promise<void>;
  /** Puts an event on the bus. @returns its id @throws ExitError as `send` */
  put(event: unknown): Promise<string>;
  /**
   * @param of `eventId` tells a rejection of this very request from the command that has the id;
   * `sender`: AWS account whose command it is, Skyhook's own when absent
   */
  look(
    commandId: string,
    of?: { readonly eventId?: string; readonly sender?: string | undefined },
  ): Promise<RequestState | undefined>;
  /** What is watched, each with its latest price. */
  prices(): Promise<readonly PriceView[]>;
  /** Every reading of a price, newest first; undefined when nothing was ever watched under the name. */
  priceHistory(name: string): Promise<readonly ReadingView[] | undefined>;
  /** Newest first. @param since ISO 8601 */
  priceChanges(since: string): Promise<readonly PriceChangeView[]>;
}

/** A running Skyhook answers at once. */
const ANSWER_MS = 30_000;

const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "TimeoutError";

const ask = async (url: URL, init?: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    if (isTimeout(error)) {
      const limit = `${ANSWER_MS / 1000} seconds`;
      throw new ExitError(
        EXIT.unreachable,
        `${url.origin} did not answer within ${limit}; it may be busy, try again`,
      );
    }
    throw new ExitError(
      EXIT.unreachable,
      `nothing answers at ${url.origin}; run \`skyhook start\` and give the address that it prints by --endpoint or SKYHOOK_ENDPOINT`,
    );
  }
};

/** @throws ExitError unless it is accepted */
const post = async (url: URL, body: unknown): Promise<unknown> => {
  const response = await ask(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
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
const read = async <S extends z.ZodType>(
  url: URL,
  schema: S,
  noneText?: string,
): Promise<z.output<S> | undefined> => {
  const response = await ask(url);
  if (response.status === 200) return schema.parse(await response.json());
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (noneText !== undefined && isDeepStrictEqual(answer, { error: noneText })) return undefined;
  throw await refusedBy(response, url);
};

export const createGatewayClient = (endpoint: string): GatewayClient => ({
  async send(detail) {
    await post(new URL("/commands", endpoint), detail);
  },
  async put(event) {
    const answer = await post(new URL("/events", endpoint), event);
    return z.object({ id: z.string() }).parse(answer).id;
  },
  async look(commandId, { eventId, sender } = {}) {
    const url = new URL(`/commands/${encodeURIComponent(commandId)}`, endpoint);
    if (eventId !== undefined) url.searchParams.set("event", eventId);
    if (sender !== undefined) url.searchParams.set("sender", sender);
    return read(url, sentRequestSchema, NO_SUCH_COMMAND);
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
