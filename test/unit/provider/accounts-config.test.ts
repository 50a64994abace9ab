import { describe, expect, test } from "vitest";
import { parseAccounts } from "../../../lib/provider/accounts-config.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";

describe("parseAccounts", () => {
  test("reads JSON like the file", () => {
    const json = { accounts: [{ name: "acme", senders: ["own"] }] };

    expect({ kind: "valid", value: parseAccounts(json) }).toEqual(
      readAccountsFile("accounts: [{ name: acme, senders: [own] }]"),
    );
  });

  test("rejects invalid JSON with an error that lists every problem and no value", () => {
    const json = {
      accounts: [
        { name: "acme", senders: ["own"], api_key: "1234$abcdef" },
        { name: "acme", senders: ["own"] },
      ],
    };

    expect(() => parseAccounts(json)).toThrow(
      "invalid accounts file: accounts.0.api_key (must say where the key is: `parameter: /name/of/an/ssm/parameter` or `environment: VARIABLE`; never the key itself), accounts.1.name (duplicate of accounts.0.name)",
    );
  });
});
