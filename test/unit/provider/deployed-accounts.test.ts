import { expect, test } from "vitest";
import { readDeployedAccounts } from "../../../lib/provider/accounts-file.ts";

const fileWith = (...lines: readonly string[]): string =>
  ["accounts:", "  - name: main", "    senders: [own]", ...lines.map((line) => `    ${line}`)].join(
    "\n",
  );

const problemsOf = (text: string) => {
  const reading = readDeployedAccounts(text);
  return reading.kind === "invalid" ? reading.problems : [];
};

test("a deployed account has its provider's address, and its key in an SSM parameter", () => {
  const text = fileWith("base_url: https://api.example.com", "api_key: { parameter: /keys/main }");

  const reading = readDeployedAccounts(text);

  expect(reading).toMatchObject({
    kind: "valid",
    value: {
      accounts: [{ baseUrl: "https://api.example.com", apiKey: { parameter: "/keys/main" } }],
    },
  });
});

test("an account without base_url and api_key gets a problem for each", () => {
  expect(problemsOf(fileWith())).toEqual([
    { path: "accounts.0.base_url", rule: "required", line: 2 },
    { path: "accounts.0.api_key", rule: "required", line: 2 },
  ]);
});

test("a key in an environment variable is rejected: readers of a function see its variables", () => {
  const text = fileWith("base_url: https://api.example.com", "api_key: { environment: KEY }");

  expect(problemsOf(text)).toEqual([
    {
      path: "accounts.0.api_key.environment",
      rule: "allowed in local runs only; a deployment reads its keys from SSM, so use parameter",
      line: 5,
    },
  ]);
});

test("fields that only a deployment requires are reported together with other problems", () => {
  const text = fileWith("colour: red", "base_url: https://api.example.com");

  expect(problemsOf(text)).toEqual([
    { path: "accounts.0.api_key", rule: "required", line: 2 },
    { path: "accounts.0.colour", rule: "unknown field", line: 4 },
  ]);
});

test.each([["accounts: 1"], ["[]"], ["accounts: [1]"], ["nothing: here"]])(
  "a file without a list of accounts, %s, is rejected without an exception",
  (text) => {
    expect(problemsOf(text).length).toBeGreaterThan(0);
  },
);
