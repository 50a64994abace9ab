import { describe, expect, it } from "vitest";
import { plainReply } from "../../../lib/cli/reply-text.ts";
import { parseWireJson } from "../../../lib/contract/json.ts";

describe("a reply that may be shown", () => {
  it("has large integers as decimal strings, at any depth", () => {
    const reply = parseWireJson('{"a":[{"bytes":18446744073709551615}],"count":5,"share":0.5}');

    expect(plainReply(reply)).toEqual({
      a: [{ bytes: "18446744073709551615" }],
      count: 5,
      share: 0.5,
    });
  });

  it("has the names of variables, but neither their values nor a pull secret, at any depth", () => {
    const container = { name: "c", envs: { TOKEN: "hush", EMPTY: null }, pull_secret: "hush" };

    expect(plainReply({ ...container, data: [container] })).toEqual({
      name: "c",
      envs: { TOKEN: "[redacted]", EMPTY: null },
      pull_secret: "[redacted]",
      data: [{ name: "c", envs: { TOKEN: "[redacted]", EMPTY: null }, pull_secret: "[redacted]" }],
    });
  });

  it("redacts a secret of an unexpected type", () => {
    expect(plainReply({ envs: ["hush", { a: "hush" }], pull_secret: { a: ["hush"] } })).toEqual({
      envs: "[redacted]",
      pull_secret: { a: "[redacted]" },
    });
  });

  it("leaves an unset secret unchanged", () => {
    expect(plainReply({ envs: {}, pull_secret: null })).toEqual({ envs: {}, pull_secret: null });
  });
});
