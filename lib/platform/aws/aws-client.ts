/** Limits of one attempt: to connect, and then up to the first byte of the answer. */
const CONNECT_MS = 1_000;
const ANSWER_MS = 3_000;
/** A connection on which an answer has begun, and nothing more comes, is closed. */
const STALL_MS = 5_000;
/** Limit of all attempts of a call together, with their pauses and the whole answer. */
const CALL_MS = 12_000;
const MAX_ATTEMPTS = 3;

/** Limits of the calls of a client. */
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
 * Limits of calls that AWS answers when work of up to `workMs` has ended. Such a call is sent once:
 * after a time-out the work may go on, and a second attempt would begin it again.
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
    // Without it the SDK only logs a warning and waits on.
    throwOnRequestTimeout: true,
    socketTimeout: stallMs,
  },
});

/** Options of `send` for a long poll, which AWS answers after up to `waitMs`. */
export const longPoll = (waitMs: number): { readonly requestTimeout: number } => ({
  requestTimeout: waitMs + ANSWER_MS,
});

type Next<Args, Reply> = (args: Args) => Promise<Reply>;

/** Ends a call at its limit: a throttled one may be asked to wait longer, and an answer may trickle. */
const limitCall =
  (callMs: number) =>
  <Args, Reply>(
    next: Next<Args, Reply>,
    { commandName = "a call" }: { readonly commandName?: string },
  ): Next<Args, Reply> =>
  async (args) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const message = `${commandName}: AWS did not answer within ${callMs / 1000} s`;
        reject(Object.assign(new Error(message), { name: "TimeoutError", code: "ETIMEDOUT" }));
      }, callMs);
    });
    try {
      return await Promise.race([next(args), limit]);
    } finally {
      clearTimeout(timer);
    }
  };

/** As far as every client of the AWS SDK is alike. */
interface Limitable {
  readonly middlewareStack: {
    add(
      middleware: ReturnType<typeof limitCall>,
      options: { readonly step: "initialize"; readonly priority: "high"; readonly name: string },
    ): void;
  };
}

/**
 * Makes a client with the region and credentials of the environment, none of whose calls outlives its
 * limits: Lambda kills an invocation that waits for AWS for too long, and it records nothing. A body
 * that the SDK hands out as a stream is read after its call, under a limit of the reader's own.
 */
export const createAwsClient = <Client extends Limitable>(
  Client: new (options: ReturnType<typeof optionsOf>) => Client,
  limits = USUAL,
): Client => {
  const client = new Client(optionsOf(limits));
  client.middlewareStack.add(limitCall(limits.callMs), {
    step: "initialize",
    priority: "high",
    name: "limitCall",
  });
  return client;
};
