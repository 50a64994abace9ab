import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  cancelAnswerSchema,
  deadLetterListSchema,
  deadLetterOutcomeSchema,
  deadLetterPreviewSchema,
  liftAnswerSchema,
  putAnswerSchema,
  resolveAnswerSchema,
  type Verdict,
} from "../../admin/answers.ts";
import { bulkPageSchema } from "../../admin/bulk-cancel.ts";
import type {
  DeadLetterFilter,
  DeleteSelection,
  Selection,
} from "../../admin/dead-letter-selection.ts";
import {
  type EventFilter,
  type StreamItem,
  streamedEventSchema,
} from "../../admin/event-stream.ts";
import { type JobName, jobRunSchema } from "../../admin/job-run.ts";
import {
  type BoundedQuery,
  type BulkQuery,
  type ListQuery,
  listPageSchema,
} from "../../admin/list.ts";
import {
  priceChangeViewSchema,
  priceViewSchema,
  readingViewSchema,
} from "../../jobs/prices/memory.ts";
import { timeoutMsOf } from "../../platform/deployment.ts";
import type { RunAddress } from "../endpoint.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { requestStateSchema } from "../request-state.ts";
import { serverSentEvents } from "../server-sent-events.ts";

/** Limit for every answer except that of a job; far more than a running Skyhook needs. */
const ANSWER_MS = 30_000;
/** A little longer than a job may take. */
const jobAnswerMs = (name: JobName): number => timeoutMsOf(name) + 10_000;

/** What to read of the stream of events. */
export interface EventsAsked extends EventFilter {
  readonly recent: number;
  readonly after?: string | undefined;
}

const gapSchema = z
  .object({ missed: z.int().optional() })
  .transform(({ missed }) => ({ kind: "gap", ...(missed !== undefined && { missed }) }) as const);

/** A path of a running Skyhook, with the token that opens it. */
interface Target {
  readonly url: URL;
  readonly token: string | undefined;
}

const ask = async (
  { url, token }: Target,
  init?: RequestInit,
  limitMs = ANSWER_MS,
): Promise<Response> => {
  const late = AbortSignal.timeout(limitMs);
  const signal = init?.signal ? AbortSignal.any([late, init.signal]) : late;
  try {
    const headers = { ...init?.headers, ...(token && { authorization: `Bearer ${token}` }) };
    return await fetch(url, { ...init, headers, signal });
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const text = isLate
      ? `${url.origin} did not answer within ${limitMs / 1000} s; it may be busy: try again`
      : `nothing answers at ${url.origin}; run \`npx skyhook start\`, and set --endpoint or SKYHOOK_ENDPOINT to the address that it prints`;
    throw new ExitError(EXIT.unreachable, text);
  }
};

const post = (target: Target, body: unknown, limitMs?: number): Promise<Response> => {
  const headers = { "content-type": "application/json" };
  return ask(target, { method: "POST", headers, body: JSON.stringify(body) }, limitMs);
};

const refusalSchema = z.object({ error: z.string() });

const NO_TOKEN =
  "its token is missing or wrong; set SKYHOOK_TOKEN to the token in the address that `skyhook start` printed";

const refusedBy = async (response: Response, { url }: Target): Promise<ExitError> => {
  const body = refusalSchema.safeParse(await response.json().catch(() => undefined));
  if (body.success && response.status === 401) {
    return new ExitError(EXIT.refused, `${url.origin} refuses the request: ${NO_TOKEN}`);
  }
  const text = `${url.origin} is not a running Skyhook; check --endpoint and SKYHOOK_ENDPOINT`;
  return body.success
    ? new ExitError(
        EXIT.refused,
        `Skyhook refuses the request (${response.status}): ${body.data.error}`,
      )
    : new ExitError(EXIT.unreachable, text);
};

/** Posts a body and returns the answer of a 202. @throws ExitError for any other status */
const accepted = async <S extends z.ZodType>(
  target: Target,
  body: unknown,
  schema: S,
  limitMs?: number,
): Promise<z.output<S>> => {
  const response = await post(target, body, limitMs);
  if (response.status !== 202) throw await refusedBy(response, target);
  return schema.parse(await response.json());
};

/** The answer, or undefined for a refusal with the text `noneText`. @throws ExitError for any other refusal */
const answerIn = async <S extends z.ZodType>(
  response: Response,
  target: Target,
  schema: S,
  noneText: string,
): Promise<z.output<S> | undefined> => {
  if (response.ok) return schema.parse(await response.json());
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (isDeepStrictEqual(answer, { error: noneText })) return undefined;
  throw await refusedBy(response, target);
};

const read = async <S extends z.ZodType>(target: Target, schema: S): Promise<z.output<S>> => {
  const response = await ask(target);
  if (!response.ok) throw await refusedBy(response, target);
  return schema.parse(await response.json());
};

const selectionBody = (selection: Selection) => {
  if (selection.kind === "all") return { all: true };
  return selection.kind === "ids" ? { ids: selection.ids } : { matching: selection.filter };
};

/**
 * Reads Server-Sent Events until the signal aborts.
 * @throws ExitError when the connection is refused or lost
 */
async function* streamed(target: Target, signal: AbortSignal) {
  const { url, token } = target;
  const lost = () => new ExitError(EXIT.unreachable, `the connection to ${url.origin} was lost`);
  try {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(url, { headers, signal });
    if (!response.ok || !response.body) throw await refusedBy(response, target);
    yield* serverSentEvents(response.body);
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof ExitError ? error : lost();
  }
  if (!signal.aborted) throw lost();
}

const NO_SUCH_COMMAND = "no such command";

/**
 * A client of the running Skyhook at an address. Every method throws an ExitError when Skyhook does not answer
 * or refuses the request, and returns undefined for an unknown command, account or price.
 * @param sender AWS account of the commands; default: Skyhook's own
 */
export const createGatewayClient = ({ endpoint, token }: RunAddress, sender?: string) => {
  const at = (path: string, query: Readonly<Record<string, string | undefined>> = {}): Target => {
    const url = new URL(path, endpoint);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return { url, token };
  };
  const ofCommand = (commandId: string, action = "", event?: string): Target =>
    at(`/commands/${encodeURIComponent(commandId)}${action}`, { sender, event });
  const eventsAt = (path: string, { types, command, recent, after }: EventsAsked): Target => {
    const target = at(path, { command, after, recent: String(recent) });
    for (const type of types) target.url.searchParams.append("type", type);
    return target;
  };
  return {
    send: (detail: unknown) => accepted(at("/commands"), detail, z.unknown()),
    put: (event: unknown) => accepted(at("/events"), event, putAnswerSchema),
    /** The state of a command. @param of with `eventId`: the rejection of that event's request, if there is one */
    async look(
      commandId: string,
      of: { readonly eventId?: string; readonly signal?: AbortSignal } = {},
    ) {
      const target = ofCommand(commandId, "", of.eventId);
      const response = await ask(target, of.signal && { signal: of.signal });
      return answerIn(response, target, requestStateSchema, NO_SUCH_COMMAND);
    },
    async cancel(commandId: string, from = sender) {
      const target = at(`/commands/${encodeURIComponent(commandId)}/cancel`, { sender: from });
      return answerIn(await post(target, {}), target, cancelAnswerSchema, NO_SUCH_COMMAND);
    },
    previewCancel: (query: BulkQuery) =>
      read(at("/commands/cancel/preview", query), bulkPageSchema),
    cancelMatching: (query: BoundedQuery) =>
      accepted(at("/commands/cancel"), query, bulkPageSchema),
    async resolve(commandId: string, verdict: Verdict) {
      const target = ofCommand(commandId, "/resolve");
      return answerIn(await post(target, verdict), target, resolveAnswerSchema, NO_SUCH_COMMAND);
    },
    async liftPause(account: string) {
      const target = at(`/accounts/${encodeURIComponent(account)}/lift-pause`);
      return answerIn(await post(target, {}), target, liftAnswerSchema, "no such account");
    },
    list: ({ limit, ...filters }: ListQuery) =>
      read(at("/commands", { ...filters, limit: String(limit) }), listPageSchema),
    /** The newest events, the oldest first. */
    recentEvents: (asked: EventsAsked) =>
      read(eventsAt("/events", asked), z.array(streamedEventSchema)),
    /** The newest events and then all that come. */
    async *events(asked: EventsAsked, signal: AbortSignal): AsyncGenerator<StreamItem> {
      const target = eventsAt("/events/stream", asked);
      for await (const { type, id, data } of streamed(target, signal)) {
        if (type === "gap") yield gapSchema.parse(JSON.parse(data));
        else if (type === "error") {
          // The source may answer again, as after a lost connection.
          throw new ExitError(EXIT.unreachable, refusalSchema.parse(JSON.parse(data)).error);
        } else if (data === "") yield { kind: "idle", ...(id !== "" && { cursor: id }) };
        else {
          const event = streamedEventSchema.parse(JSON.parse(data));
          yield { kind: "event", cursor: id, event };
        }
      }
    },
    /** Resolves when the job has ended. */
    runJob: (name: JobName) =>
      accepted(at(`/jobs/${name}/run`), {}, jobRunSchema, jobAnswerMs(name)),
    prices: {
      list: () => read(at("/prices"), z.array(priceViewSchema)),
      async history(name: string) {
        const target = at(`/prices/${encodeURIComponent(name)}`);
        return answerIn(await ask(target), target, z.array(readingViewSchema), "no such price");
      },
      changes: (since: number) =>
        read(
          at("/price-changes", { since: new Date(since).toISOString() }),
          z.array(priceChangeViewSchema),
        ),
    },
    deadLetters: {
      list: () => read(at("/dead-letters"), deadLetterListSchema),
      redrive: (selection: Selection) =>
        accepted(
          at("/dead-letters/redrive"),
          selectionBody(selection),
          z.array(deadLetterOutcomeSchema),
        ),
      remove: (selection: DeleteSelection, force: boolean) =>
        accepted(
          at("/dead-letters/delete"),
          { ...selectionBody(selection), force },
          z.array(deadLetterOutcomeSchema),
        ),
      previewRedrive: (filter: DeadLetterFilter) =>
        read(at("/dead-letters/redrive/preview", filter), deadLetterPreviewSchema),
      previewRemove: (filter: DeadLetterFilter, force: boolean) =>
        read(
          at("/dead-letters/delete/preview", { ...filter, force: String(force) }),
          deadLetterPreviewSchema,
        ),
    },
  };
};

export type GatewayClient = ReturnType<typeof createGatewayClient>;
