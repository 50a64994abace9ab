import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { forwardedLine, incomingLine } from "../../../lib/cli/event-line.ts";
import type { BusEvent } from "../../../lib/local/local-bus.ts";

const event = (fields: Partial<BusEvent>): BusEvent => ({
  version: "0",
  id: "e1",
  "detail-type": "InvoicePaid",
  source: "billing",
  account: "111122223333",
  time: "2026-01-31T12:34:56Z",
  region: "us-east-1",
  resources: [],
  detail: {},
  ...fields,
});

test("an event of another AWS account names its account, type and source", () => {
  expect(stripVTControlCharacters(incomingLine(event({})))).toBe(
    "12:34:56      from 111122223333                     InvoicePaid (billing)",
  );
});

test("an event for another bus names the bus and the command", () => {
  const ended = event({
    "detail-type": "CommandSucceeded",
    detail: { metadata: { commandId: "c1" } },
  });

  expect(stripVTControlCharacters(forwardedLine("111122223333", ended))).toBe(
    "12:34:56      to the bus of 111122223333            CommandSucceeded c1",
  );
});

test("control characters of a foreign event are escaped", () => {
  const odd = event({ source: "a\u001b[2Jb", "detail-type": "x\u202ey" });

  expect(stripVTControlCharacters(incomingLine(odd))).toContain("x\\u202ey (a\\u001b[2Jb)");
});
