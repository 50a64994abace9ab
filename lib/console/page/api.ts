import type { Session } from "../../admin/answers.ts";

/** A refusal of Skyhook, with the reason that it gave. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; 0 when nothing answered. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type Connection = "open" | "lost" | "no-token";

let connection: Connection = "open";
const listeners = new Set<(connection: Connection) => void>();

const setConnection = (next: Connection): void => {
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener(next);
};

/** Calls the listener on each change. @returns a function that ends it */
export const onConnection = (listener: (connection: Connection) => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const ask = async <T>(path: string, init: RequestInit): Promise<T> => {
  const response = await fetch(path, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    setConnection("lost");
    throw new ApiError(0, "Skyhook does not answer. The page tries again.");
  });
  setConnection(response.status === 401 ? "no-token" : "open");
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new ApiError(response.status, answer?.error ?? `HTTP status ${response.status}`);
};

/** Reads an answer. The caller names its type, which the server's code has too. @throws ApiError */
export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  ask(path, signal ? { signal } : {});

/** Sends a change. @throws ApiError */
export const post = <T>(path: string, body: unknown): Promise<T> =>
  ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** A path with its query; undefined and empty values are left out. */
export const withQuery = (
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
};

/** How often a page reads again, ms: a stage costs read units, and a local run nothing. */
export const refreshMs = ({ kind }: Session): number => (kind === "stage" ? 5_000 : 2_000);
