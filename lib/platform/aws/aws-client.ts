/** Limits of one attempt: for the connection, and then for the first byte of the response. */
const CONNECT_MS = 1_000;
const ANSWER_MS = 3_000;
/** Closes a connection that stalls in the middle of a response. */
const STALL_MS = 5_000;
/** Limit of a call: all attempts with their pauses and the whole response. */
const CALL_MS = 12_000;
/** Attempts of a call, the first one included. */
export const MAX_ATTEMPTS = 3;

/** Time limits of a client's calls. */
interface CallLimits {
  readonly maxAttempts: number;
  readonly answerMs: number;
  readonly stallMs: number;
  readonly callMs: number;
}

const USUAL: CallLimits = {
  maxAttempts: MAX_ATTEMPTS,
  answerMs: ANSWER_MS,
  stallMs: STALL_MS,
  callMs: CALL_MS,
};

/**
 * Limits of calls for which AWS works up to `workMs` before it answers. The SDK sends such a call once: after a
 * timeout the work may continue, and a second attempt would start it again.
 */
export const untilWorkEnds = (workMs: number): CallLimits => {
  const answerMs = workMs + ANSWER_MS;
  return { maxAttempts: 1, answerMs, stallMs: answerMs, callMs: CONNECT_MS + answerMs + STALL_MS };
};

const optionsOf = ({ maxAttempts, answerMs, stallMs }: CallLimits) => ({
  maxAttempts,
  requestHandler: {
    connectionTimeout: CONNECT_MS,
    requestTimeout: answerMs,
    // Without this option, the SDK only logs a warning and keeps waiting.
    throwOnRequestTimeout: true,
    socketTimeout: stallMs,
  },
});

/** Options of `send` for a long poll that AWS answers after up to `waitMs`. */
export const longPoll = (waitMs: number): { readonly requestTimeout: number } => ({
  requestTimeout: waitMs + ANSWER_MS,
});

/** Rejects at the limit of a call, because throttling may ask for a longer pause, and a response may trickle. */
export const limited = async <Reply>(
  name: string,
  call: Promise<Reply>,
  callMs = CALL_MS,
): Promise<Reply> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `${name}: AWS did not answer within ${callMs / 1000} s`;
      reject(Object.assign(new Error(message), { name: "TimeoutError", code: "ETIMEDOUT" }));
    }, callMs);
  });
  try {
    return await Promise.race([call, limit]);
  } finally {
    clearTimeout(timer);
  }
};

type Next<Args, Reply> = (args: Args) => Promise<Reply>;

const limitCall =
  (callMs: number) =>
  <Args, Reply>(
    next: Next<Args, Reply>,
    { commandName = "a call" }: { readonly commandName?: string },
  ): Next<Args, Reply> =>
  (args) =>
    limited(commandName, next(args), callMs);

/** The common part of all clients of the AWS SDK. */
interface Limitable {
  readonly middlewareStack: {
    add(
      middleware: ReturnType<typeof limitCall>,
      options: { readonly step: "initialize"; readonly priority: "high"; readonly name: string },
    ): void;
  };
}

interface Place {
  readonly region?: string;
}

/**
 * Makes a client with the region and credentials of the environment and with time limits on every call.
 * Without limits, Lambda would kill an invocation that waits for AWS before it could record anything. A
 * body that the SDK returns as a stream is read after the call, under a limit of the reader.
 * @param place a region other than that of the environment
 */
export const createAwsClient = <Client extends Limitable>(
  Client: new (options: ReturnType<typeof optionsOf> & Place) => Client,
  limits = USUAL,
  place: Place = {},
): Client => {
  const client = new Client({ ...optionsOf(limits), ...place });
  client.middlewareStack.add(limitCall(limits.callMs), {
    step: "initialize",
    priority: "high",
    name: "limitCall",
  });
  return client;
};
