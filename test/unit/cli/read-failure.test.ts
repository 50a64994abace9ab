import { describe, expect, it } from "vitest";
import { readFailure } from "../../../lib/cli/provider.ts";
import { ProviderError, type ProviderErrorCode } from "../../../lib/provider/provider-error.ts";

const failure = (
  code: ProviderErrorCode,
  more: Partial<ConstructorParameters<typeof ProviderError>[0]> = {},
) => {
  const error = new ProviderError({
    disposition: "transient",
    code,
    message: `get-task: ${more.status ?? ""} ${code}`,
    ...more,
  });
  const { exitCode, message } = readFailure(error, "https://api.example.com/base");
  return { exitCode, lines: message.split("\n") };
};

describe("a read that failed", () => {
  it.each([
    ["refused", 400, "permanent", 2],
    ["forbidden", 403, "permanent", 2],
    ["not-found", 404, "permanent", 2],
    ["conflict", 409, "permanent", 2],
    ["timed-out", 408, "transient", 1],
    ["throttled", 429, "throttled", 1],
    ["reply-unexpected", 302, "contract", 1],
    ["server-error", 500, "transient", 1],
    ["server-error", 504, "transient", 1],
  ] as const)(
    "as %s by status %i, %s, ends the program with %i",
    (code, status, disposition, exitCode) => {
      expect(failure(code, { status, disposition })).toEqual({
        exitCode,
        lines: [`get-task: ${status} ${code}`],
      });
    },
  );

  it.each(["connection-failed", "connection-lost", "timed-out"] as const)(
    "as %s without a status names the address, which is where to look",
    (code) => {
      expect(failure(code)).toEqual({
        exitCode: 3,
        lines: [
          `get-task:  ${code}`,
          "  check the address https://api.example.com (--base-url or SKYHOOK_BASE_URL)",
        ],
      });
    },
  );

  it("because of a reply that is not JSON names the address", () => {
    const { exitCode, lines } = failure("reply-unreadable");

    expect(exitCode).toBe(1);
    expect(lines[1]).toContain("https://api.example.com");
  });

  it("names each field that the provider refuses, on its own line", () => {
    const problems = [
      { path: "flavor", rule: "unknown\u001b[2J \u202eflavor" },
      { path: "", rule: "no quota" },
    ];

    expect(failure("refused", { status: 400, disposition: "permanent", problems }).lines).toEqual([
      "get-task: 400 refused",
      "  flavor: unknown\\u001b[2J \\u202eflavor",
      "  no quota",
    ]);
  });

  it("names a field once if the provider's message names it too", () => {
    const error = new ProviderError({
      disposition: "permanent",
      code: "refused",
      status: 400,
      message: "get-task: 400 refused: status: must be SUSPENDED; flavor: unk",
      problems: [
        { path: "status", rule: "must be SUSPENDED" },
        { path: "flavor", rule: "unknown" },
      ],
    });

    expect(readFailure(error, "https://api.example.com").message.split("\n")).toEqual([
      "get-task: 400 refused",
      "  status: must be SUSPENDED",
      "  flavor: unknown",
    ]);
  });

  it("because of the API key names SKYHOOK_API_KEY", () => {
    expect(failure("key-refused", { status: 401 })).toEqual({
      exitCode: 2,
      lines: ["get-task: 401 key-refused", "  check the key in SKYHOOK_API_KEY"],
    });
  });

  it("because of a rate limit shows the wait", () => {
    expect(failure("throttled", { status: 429, retryAfterMs: 1_200 })).toEqual({
      exitCode: 1,
      lines: ["get-task: 429 throttled", "  the provider requests a wait of 2 s"],
    });
  });
});
