import { expect } from "vitest";
import * as z from "zod";
import { ERROR_BODIES } from "../../../lib/contract/error-responses.ts";
import { parseWireJson } from "../../../lib/contract/json.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { OPERATIONS } from "../../../lib/contract/operations.ts";
import type { DescribedOperation, RandomRequest } from "./random-request.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Number of commits to the store during the request. */
  readonly commits: number;
}

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The segments of a path after the normalization of URLs, which also depends on the text after the path. */
const segmentsOf = ({ path, query }: RandomRequest): readonly string[] =>
  new URL(`http://service.test${path}${query}`).pathname.slice(1).split("/").map(decode);

const familyOf = (segments: readonly string[]): keyof typeof ERROR_BODIES => {
  const [first] = segments;
  if (segments.length > 1 && (first === "storage" || first === "streaming")) return first;
  return "cloud";
};

const leadsTo = (segments: readonly string[], { path }: DescribedOperation): boolean => {
  const template = path.slice(1).split("/");
  return (
    template.length === segments.length &&
    template.every((part, index) =>
      part.startsWith("{") ? segments[index] !== "" : segments[index] === part,
    )
  );
};

const contracts: readonly Operation[] = OPERATIONS;

/** The operation of an OpenAPI operation id, also for the suffixed id of its second path. */
export const contractOf = ({ operationId }: DescribedOperation): Operation | undefined =>
  contracts.find(({ id }) => id === operationId.replace(/-2$/, ""));

/** A field and the rule that it breaks. */
const NAMED_RULE = /: \S/;

const checkRefusal = (
  segments: readonly string[],
  answer: Answered,
  methods: readonly string[],
  method: string,
): void => {
  const { status, headers, text } = answer;
  expect(answer.commits).toBe(0);
  expect(headers.get("content-type")).toBe("application/json");
  if (status === 401) expect(headers.get("www-authenticate")).toBe("apikey");
  if (status === 405) {
    expect(headers.get("allow")?.split(", ").sort()).toEqual(methods.toSorted());
    expect(methods).not.toContain(method);
  }
  // A path that exists only with another method is 405, not 404.
  if (status === 404 && methods.length > 0) expect(methods).toContain(method);
  // HEAD gets the response to GET without its body.
  if (text === "") return;
  const family = familyOf(segments);
  const body = parseWireJson(text);
  expect(ERROR_BODIES[family].safeParse(body).error).toBeUndefined();
  if (status === 400) {
    const field = family === "cloud" ? "message" : "error";
    expect(body).toHaveProperty(field, expect.stringMatching(NAMED_RULE));
  }
};

const checkSuccess = (operation: DescribedOperation, { status, text }: Answered): void => {
  const contract = contractOf(operation);
  expect(status).toBe(contract?.successStatus);
  const body = text === "" ? undefined : parseWireJson(text);
  expect(contract && z.safeDecode(contract.response, body as never).error).toBeUndefined();
};

/** Properties of the response to every request, valid or not. */
export const checkAnswer = (
  operations: readonly DescribedOperation[],
  sent: RandomRequest,
  answer: Answered,
): void => {
  const { status, text } = answer;
  expect(status).toBeLessThan(500);
  expect(text).not.toMatch(/ {4}at |node_modules/);

  const isHead = sent.method === "HEAD";
  expect(text === "").toBe(isHead || status === 204);

  const segments = segmentsOf(sent);
  const atPath = operations.filter((operation) => leadsTo(segments, operation));
  const method = isHead ? "GET" : sent.method;
  if (status >= 400) {
    const methods = atPath.map((one) => one.method);
    checkRefusal(segments, answer, methods, method);
    return;
  }
  const operation = atPath.find((one) => one.method === method);
  expect(operation).toBeDefined();
  if (operation !== undefined && !isHead) checkSuccess(operation, answer);
};
