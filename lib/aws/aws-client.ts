/** Limits of one attempt: to connect, and then up to the first byte of the answer. */
const CONNECT_MS = 1_000;
const ANSWER_MS = 3_000;
/** A connection on which an answer has begun, and nothing more comes, is closed. */
const STALL_MS = 5_000;
/** Limit of all attempts of a call together, with their pauses and the whole answer. */
const CALL_MS = 12_000;
const MAX_ATTEMPTS = 3;

const LIMITS = {
  maxAttempts: MAX_ATTEMPTS,
  requestHandler: {
    connectionTimeout: CONNECT_MS,
    requestTimeout: ANSWER_MS,
    // Without it the SDK only logs a warning and waits on.
    throwOnRequestTimeout: true,
    socketTimeout: STALL_MS,
  },
};

/** Options of `send` for a long poll, which AWS answers after up to `waitMs`. */
export const longPoll = (waitMs: number): { readonly requestTimeout: number } => ({
  requestTimeout: waitMs + ANSWER_MS,
});

type Next<Args, Reply> = (args: Args) => Promise<Reply>;

/** Ends a call at its limit: a throttled one may be asked to wait longer, and an answer may trickle. */
const limitCall =
  <Args, Reply>(
    next: Next<Args, Reply>,
    { commandName = "a call" }: { readonly commandName?: string },
  ): Next<Args, Reply> =>
  async (args) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const message = `${commandName}: AWS did not answer within ${CALL_MS / 1000} s`;
        reject(Object.assign(new Error(message), { name: "TimeoutError", code: "ETIMEDOUT" }));
      }, CALL_MS);
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
      middleware: typeof limitCall,
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
  Client: new (limits: typeof LIMITS) => Client,
): Client => {
  const client = new Client(LIMITS);
  client.middlewareStack.add(limitCall, {
    step: "initialize",
    priority: "high",
    name: "limitCall",
  });
  return client;
};
