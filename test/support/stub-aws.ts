import { TextDecoder } from "node:util";

export interface StubReply {
  readonly status: number;
  readonly body: unknown;
  /** Headers in addition to the content type. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SentRequest {
  /** Operation of the target header, such as `SendMessage`. */
  readonly operation: string;
  readonly body: unknown;
}

/** An `Error` stands for a broken connection. */
export type StubAnswer = (request: SentRequest) => StubReply | Error;

/** The replies in order. The last one repeats. */
export const inTurn = (...replies: readonly [StubReply | Error, ...(StubReply | Error)[]]) => {
  let asked = 0;
  return (): StubReply | Error => {
    asked += 1;
    return replies[Math.min(asked, replies.length) - 1] ?? replies[0];
  };
};

/** Replaces the HTTP handler of the AWS SDK, and records its requests. */
export const createStubAws = (answer: StubAnswer) => {
  const requests: SentRequest[] = [];
  const handle = async (sent: { headers: Record<string, string>; body?: Uint8Array }) => {
    const request = {
      operation: sent.headers["x-amz-target"]?.split(".")[1] ?? "none",
      body: JSON.parse(new TextDecoder().decode(sent.body)),
    };
    requests.push(request);
    const reply = answer(request);
    if (reply instanceof Error) throw reply;
    const { status, body, headers } = reply;
    return {
      response: {
        statusCode: status,
        headers: { "content-type": "application/x-amz-json-1.0", ...headers },
        body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
      },
    };
  };

  return {
    requests,
    clientConfig: {
      region: "eu-central-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      requestHandler: { handle },
    },
  };
};
