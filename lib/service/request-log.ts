import type { FaultKind } from "./fault-rules.ts";

const MAX_REQUESTS = 200;
/** Longer than any path of the interface. */
const MAX_PATH_CHARACTERS = 300;
const MAX_METHOD_CHARACTERS = 20;

/** What the app notes about a request while it handles it. */
export interface RequestNotes {
  /** Path without the query, once it is known. */
  path?: string;
  /** Id of the operation, once the path and method are known. */
  operation?: string;
  /** Id in the body of an error. */
  requestId?: string;
  /** Kind of the fault that struck the request. */
  fault?: FaultKind;
}

/** A request as an observer sees it: no headers, query and bodies, because they hold keys and secrets. */
export interface SeenRequest extends Readonly<RequestNotes> {
  /** Arrival, epoch ms. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Absent when a fault ended the connection without a reply. */
  readonly status?: number;
  readonly durationMs: number;
}

/** A handled request, without headers, query and body. */
export interface HandledRequest {
  /** Counts all requests from 1, also those that the log has dropped. */
  readonly number: number;
  /** Arrival by the clock of the service, ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** Without its query, which may hold anything. */
  readonly path: string;
  /** Absent for a path or method that no operation has. */
  readonly operation?: string;
  /** Absent when a fault ended the connection without a reply. */
  readonly status?: number;
  readonly durationMs: number;
  /** Id in the body of an error. */
  readonly requestId?: string;
  /** Kind of the fault that struck the request. */
  readonly fault?: FaultKind;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/**
 * The newest 200 requests, in memory. Noting one costs an assignment; the rest is done when someone reads the log.
 */
export const createRequestLog = () => {
  const ring: SeenRequest[] = [];
  let total = 0;

  const logged = (number: number): readonly HandledRequest[] => {
    const seen = ring[(number - 1) % MAX_REQUESTS];
    if (!seen) return [];
    const { at, path, method, ...kept } = seen;
    return [
      {
        ...kept,
        number,
        time: new Date(at).toISOString(),
        method: method.slice(0, MAX_METHOD_CHARACTERS),
        path: path.slice(0, MAX_PATH_CHARACTERS),
      },
    ];
  };

  return {
    note(seen: SeenRequest): void {
      ring[total % MAX_REQUESTS] = seen;
      total += 1;
    },
    /** Drops all requests. Later ones go on counting. */
    clear(): void {
      ring.length = 0;
    },
    /** The newest first. */
    list: (): readonly HandledRequest[] =>
      Array.from({ length: ring.length }, (_, index) => total - index).flatMap(logged),
  };
};
