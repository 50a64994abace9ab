import { formatWireJson } from "../contract/json.ts";
import { familyOf } from "../contract/operation.ts";
import { injectedErrorBody } from "./errors.ts";
import type { FaultRule } from "./fault-rules.ts";

/** The connection ended without a reply. In process it looks like the error of `fetch` after a network failure. */
export class LostConnection extends TypeError {
  /** Whether the connection was reset (TCP RST) instead of closed. */
  readonly isReset: boolean;

  constructor(isReset: boolean) {
    const cause = isReset
      ? Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })
      : Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
    super("fetch failed", { cause });
    this.isReset = isReset;
  }
}

/** Bytes, then the error of `fetch` for a connection that ends in the middle of a body. */
const cutStream = (part: Uint8Array): ReadableStream<Uint8Array> => {
  const left = [part];
  return new ReadableStream({
    pull: (controller) => {
      const next = left.pop();
      if (next) controller.enqueue(next);
      else
        controller.error(new TypeError("terminated", { cause: new LostConnection(false).cause }));
    },
  });
};

/** A reply whose connection ends in the middle of its body. Its `Content-Length` announces the whole body. */
export class CutReply extends Response {
  /** The bytes before the cut. */
  readonly part: Uint8Array;

  constructor(part: Uint8Array, wholeBytes: number, { status, headers }: Response) {
    super(cutStream(part), { status, headers });
    this.headers.set("content-length", String(wholeBytes));
    this.part = part;
  }
}

/** Half of a reply. A reply without a body has nothing to cut, so it is lost. */
const cut = async (reply: Response): Promise<Response> => {
  const whole = new Uint8Array(await reply.arrayBuffer());
  if (whole.length < 2) throw new LostConnection(false);
  return new CutReply(whole.subarray(0, whole.length >> 1), whole.length, reply);
};

/** What a fault may use to answer a request. */
export interface FaultContext {
  readonly path: string;
  /** Handles the request as without a fault. */
  readonly send: () => Promise<Response> | Response;
  /** Waits for a duration of the rule's delay. */
  readonly wait: (delay: string) => Promise<void>;
  /** Creates the id in a documented error body. */
  readonly newRequestId: () => string;
}

const errorReply = (
  { path, newRequestId }: FaultContext,
  code: number,
  headers: Readonly<Record<string, string>>,
): Response =>
  new Response(formatWireJson(injectedErrorBody(familyOf(path), code, newRequestId())), {
    status: code,
    headers: { "content-type": "application/json", ...headers },
  });

/** The page of a gateway that stands between a client and the provider. */
const gatewayReply = (code: number): Response =>
  new Response(`<html><body><h1>${code} injected by a fault rule</h1></body></html>`, {
    status: code,
    headers: { "content-type": "text/html" },
  });

/** Handles the request and drops its reply. */
const takeEffect = async ({ send }: FaultContext): Promise<void> => {
  const { body } = await send();
  await body?.cancel();
};

const statusReply = (
  { code, body }: Extract<FaultRule, { kind: "status" }>,
  context: FaultContext,
): Response => {
  if (body === "html") return gatewayReply(code);
  // RFC 9110 requires this header in every 401.
  return errorReply(context, code, code === 401 ? { "www-authenticate": "apikey" } : {});
};

/**
 * The reply to a request that a rule strikes.
 * @throws LostConnection when the connection ends without a reply
 */
export const faultyReply = async (rule: FaultRule, context: FaultContext): Promise<Response> => {
  const isAfterEffect = "when" in rule && rule.when === "after-effect";
  switch (rule.kind) {
    case "status":
      if (isAfterEffect) await takeEffect(context);
      return statusReply(rule, context);
    case "throttled":
      return errorReply(context, 429, { "retry-after": rule.retryAfter.slice(0, -1) });
    case "lost-reply-before":
      throw new LostConnection(false);
    case "lost-reply-after":
      await takeEffect(context);
      throw new LostConnection(false);
    case "reset":
      if (isAfterEffect) await takeEffect(context);
      throw new LostConnection(true);
    case "slow": {
      if (!isAfterEffect) await context.wait(rule.delay);
      const reply = await context.send();
      if (isAfterEffect) await context.wait(rule.delay);
      return reply;
    }
    case "truncated":
      return cut(await context.send());
    case "unexpected-body": {
      const { status } = await context.send();
      return status === 200 ? Response.json({ ok: true }) : new Response(null, { status });
    }
    default:
      return rule satisfies never;
  }
};
