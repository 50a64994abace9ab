import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { lazy } from "../../contract/lazy.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { serverSentEvents } from "../server-sent-events.ts";

/*
 * Requests to a running Skyhook. They use `node:http`: the first `fetch` of a process costs 30 ms of CPU time, which is
 * as much as everything else that `skyhook list` does. From Node 22 on, `import` of `node:http` costs as much, because it
 * reads each export, and one of them loads the same library.
 */

/** Limit for every answer except that of a job; far more than a running Skyhook needs. */
const ANSWER_MS = 30_000;

/** A path of a running Skyhook, with the token that opens it. */
export interface Target {
  readonly url: URL;
  readonly token: string | undefined;
}

interface Sent {
  /** The JSON of a POST; absent: a GET. */
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request. @returns the answer, its body unread */
const open = async (
  { url, token }: Target,
  { body, signal }: Sent & { readonly signal: AbortSignal },
): Promise<IncomingMessage> => {
  const { request } = process.getBuiltinModule(
    url.protocol === "https:" ? "node:https" : "node:http",
  );
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  const method = body === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    request(url, { method, headers, signal }, resolve).on("error", reject).end(body);
  });
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks and reads the whole answer. @throws ExitError when none comes in time */
export const ask = async (
  target: Target,
  sent: Sent = {},
  limitMs = ANSWER_MS,
): Promise<Answer> => {
  const { url } = target;
  const late = AbortSignal.timeout(limitMs);
  const signal = sent.signal ? AbortSignal.any([late, sent.signal]) : late;
  try {
    const answer = await open(target, { ...sent, signal });
    return { status: answer.statusCode ?? 0, text: await text(answer) };
  } catch {
    const problem = late.aborted
      ? `${url.origin} did not answer within ${limitMs / 1000} s; it may be busy: try again`
      : `nothing answers at ${url.origin}; run \`npx skyhook start\`, and set --endpoint or SKYHOOK_ENDPOINT to the address that it prints`;
    throw new ExitError(EXIT.unreachable, problem);
  }
};

export const post = (target: Target, body: unknown, limitMs?: number): Promise<Answer> =>
  ask(target, { body: JSON.stringify(body) }, limitMs);

/** The JSON of an answer; undefined if it is none. */
const jsonIn = ({ text }: Answer): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Body of a refusal, and of an error in a stream. */
export const refusalSchema = lazy(() => z.object({ error: z.string() }));

const NO_TOKEN =
  "its token is missing or wrong; set SKYHOOK_TOKEN to the token in the address that `skyhook start` printed";

const notSkyhook = ({ url }: Target): ExitError =>
  new ExitError(
    EXIT.unreachable,
    `${url.origin} is not a running Skyhook; check --endpoint and SKYHOOK_ENDPOINT`,
  );

const refusedBy = (answer: Answer, target: Target): ExitError => {
  const { url } = target;
  const body = refusalSchema().safeParse(jsonIn(answer));
  if (!body.success) return notSkyhook(target);
  const text =
    answer.status === 401
      ? `${url.origin} refuses the request: ${NO_TOKEN}`
      : `Skyhook refuses the request (${answer.status}): ${body.data.error}`;
  return new ExitError(EXIT.refused, text);
};

/** The value of an answer. @throws ExitError for another text than JSON, as of a server that is not Skyhook */
const valueIn = <S extends z.ZodType>(answer: Answer, target: Target, schema: S): z.output<S> => {
  const value = jsonIn(answer);
  if (value === undefined) throw notSkyhook(target);
  return schema.parse(value);
};

const isOk = ({ status }: Answer): boolean => status >= 200 && status <= 299;

/** Posts a body and returns the answer of a 202. @throws ExitError for any other status */
export const accepted = async <S extends z.ZodType>(
  target: Target,
  body: unknown,
  schema: S,
  limitMs?: number,
): Promise<z.output<S>> => {
  const answer = await post(target, body, limitMs);
  if (answer.status !== 202) throw refusedBy(answer, target);
  return valueIn(answer, target, schema);
};

/** The answer, or undefined for a refusal with the text `noneText`. @throws ExitError for any other refusal */
export const answerIn = <S extends z.ZodType>(
  answer: Answer,
  target: Target,
  schema: S,
  noneText: string,
): z.output<S> | undefined => {
  if (isOk(answer)) return valueIn(answer, target, schema);
  if (refusalSchema().safeParse(jsonIn(answer)).data?.error === noneText) return undefined;
  throw refusedBy(answer, target);
};

/** The answer to a GET. @throws ExitError for a refusal */
export const read = async <S extends z.ZodType>(
  target: Target,
  schema: S,
): Promise<z.output<S>> => {
  const answer = await ask(target);
  if (!isOk(answer)) throw refusedBy(answer, target);
  return valueIn(answer, target, schema);
};

/**
 * Reads Server-Sent Events until the signal aborts.
 * @throws ExitError when the connection is refused or lost
 */
export async function* streamed(target: Target, signal: AbortSignal) {
  const lost = () =>
    new ExitError(EXIT.unreachable, `the connection to ${target.url.origin} was lost`);
  try {
    const answer = await open(target, { signal });
    const { statusCode: status = 0 } = answer;
    if (status !== 200) throw refusedBy({ status, text: await text(answer) }, target);
    yield* serverSentEvents(answer);
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof ExitError ? error : lost();
  }
  if (!signal.aborted) throw lost();
}
