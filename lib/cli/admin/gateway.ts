import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  cancelAnswerSchema,
  deadLetterListSchema,
  deadLetterOutcomeSchema,
  liftAnswerSchema,
  resolveAnswerSchema,
  type Verdict,
} from "../../admin/answers.ts";
import type { Selection } from "../../admin/dead-letters.ts";
import { type ListQuery, listPageSchema } from "../../admin/list.ts";
import {
  priceChangeViewSchema,
  priceViewSchema,
  readingViewSchema,
} from "../../jobs/prices/memory.ts";
import { type JobName, jobRunSchema } from "../../local/job-run.ts";
import { putAnswerSchema } from "../../local/put-request.ts";
import { timeoutMsOf } from "../../platform/deployment.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { requestStateSchema } from "../request-state.ts";

/** Limit for every answer except that of a job; far more than a running Skyhook needs. */
const ANSWER_MS = 30_000;
/** A little longer than a job may take. */
const jobAnswerMs = (name: JobName): number => timeoutMsOf(name) + 10_000;

const ask = async (url: URL, init?: RequestInit, limitMs = ANSWER_MS): Promise<Response> => {
  const late = AbortSignal.timeout(limitMs);
  const signal = init?.signal ? AbortSignal.any([late, init.signal]) : late;
  try {
    return await fetch(url, { ...init, signal });
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const text = isLate
      ? `${url.origin} did not answer within ${limitMs / 1000} s; it may be busy: try again`
      : `nothing answers at ${url.origin}; run \`npx skyhook start\`, and set --endpoint or SKYHOOK_ENDPOINT to the address that it prints`;
    throw new ExitError(EXIT.unreachable, text);
  }
};

const post = (url: URL, body: unknown, limitMs?: number): Promise<Response> => {
  const headers = { "content-type": "application/json" };
  return ask(url, { method: "POST", headers, body: JSON.stringify(body) }, limitMs);
};

const refusalSchema = z.object({ error: z.string() });

const refusedBy = async (response: Response, url: URL): Promise<ExitError> => {
  const body = refusalSchema.safeParse(await response.json().catch(() => undefined));
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
  url: URL,
  body: unknown,
  schema: S,
  limitMs?: number,
): Promise<z.output<S>> => {
  const response = await post(url, body, limitMs);
  if (response.status !== 202) throw await refusedBy(response, url);
  return schema.parse(await response.json());
};

/** The answer, or undefined for a refusal with the text `noneText`. @throws ExitError for any other refusal */
const answerIn = async <S extends z.ZodType>(
  response: Response,
  url: URL,
  schema: S,
  noneText: string,
): Promise<z.output<S> | undefined> => {
  if (response.ok) return schema.parse(await response.json());
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (isDeepStrictEqual(answer, { error: noneText })) return undefined;
  throw await refusedBy(response, url);
};

const read = async <S extends z.ZodType>(url: URL, schema: S): Promise<z.output<S>> => {
  const response = await ask(url);
  if (!response.ok) throw await refusedBy(response, url);
  return schema.parse(await response.json());
};

const NO_SUCH_COMMAND = "no such command";

/**
 * A client of the running Skyhook at an address. Every method throws an ExitError when Skyhook does not answer
 * or refuses the request, and returns undefined for an unknown command, account or price.
 * @param sender AWS account of the commands; default: Skyhook's own
 */
export const createGatewayClient = (endpoint: string, sender?: string) => {
  const at = (path: string, query: Readonly<Record<string, string | undefined>> = {}): URL => {
    const url = new URL(path, endpoint);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url;
  };
  const ofCommand = (commandId: string, action = "", event?: string): URL =>
    at(`/commands/${encodeURIComponent(commandId)}${action}`, { sender, event });
  return {
    send: (detail: unknown) => accepted(at("/commands"), detail, z.unknown()),
    put: (event: unknown) => accepted(at("/events"), event, putAnswerSchema),
    /** The state of a command. @param of with `eventId`: the rejection of that event's request, if there is one */
    async look(
      commandId: string,
      of: { readonly eventId?: string; readonly signal?: AbortSignal } = {},
    ) {
      const url = ofCommand(commandId, "", of.eventId);
      const response = await ask(url, of.signal && { signal: of.signal });
      return answerIn(response, url, requestStateSchema, NO_SUCH_COMMAND);
    },
    async cancel(commandId: string) {
      const url = ofCommand(commandId, "/cancel");
      return answerIn(await post(url, {}), url, cancelAnswerSchema, NO_SUCH_COMMAND);
    },
    async resolve(commandId: string, verdict: Verdict) {
      const url = ofCommand(commandId, "/resolve");
      return answerIn(await post(url, verdict), url, resolveAnswerSchema, NO_SUCH_COMMAND);
    },
    async liftPause(account: string) {
      const url = at(`/accounts/${encodeURIComponent(account)}/lift-pause`);
      return answerIn(await post(url, {}), url, liftAnswerSchema, "no such account");
    },
    list: ({ limit, ...filters }: ListQuery) =>
      read(at("/commands", { ...filters, limit: String(limit) }), listPageSchema),
    /** Resolves when the job has ended. */
    runJob: (name: JobName) =>
      accepted(at(`/jobs/${name}/run`), {}, jobRunSchema, jobAnswerMs(name)),
    prices: () => read(at("/prices"), z.array(priceViewSchema)),
    /** Newest first. */
    async priceHistory(name: string) {
      const url = at(`/prices/${encodeURIComponent(name)}`);
      return answerIn(await ask(url), url, z.array(readingViewSchema), "no such price");
    },
    /** Newest first. @param since ISO 8601 */
    priceChanges: (since: string) =>
      read(at("/price-changes", { since }), z.array(priceChangeViewSchema)),
    deadLetters: {
      list: () => read(at("/dead-letters"), deadLetterListSchema),
      redrive: (selection: Selection) => {
        const asked = selection.kind === "all" ? { all: true } : { ids: selection.ids };
        return accepted(at("/dead-letters/redrive"), asked, z.array(deadLetterOutcomeSchema));
      },
      remove: (ids: readonly string[], force: boolean) =>
        accepted(at("/dead-letters/delete"), { ids, force }, z.array(deadLetterOutcomeSchema)),
    },
  };
};

export type GatewayClient = ReturnType<typeof createGatewayClient>;
