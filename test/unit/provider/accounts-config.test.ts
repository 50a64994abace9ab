import { describe, expect, test } from "vitest";
import { parseAccounts } from "../../../lib/provider/accounts-config.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";

describe("accounts that come as JSON", () => {
  test("are read as the file is", () => {
    const json = { accounts: [{ name: "acme", senders: ["own"] }] };

    expect({ kind: "valid", value: parseAccounts(json) }).toEqual(
      readAccountsFile("accounts: [{ name: acme, senders: [own] }]"),
    );
  });

  test("that are wrong are an error that names every problem and no value", () => {
    const json = {
      accounts: [
        { name: "acme", senders: ["own"], api_key: "1234$abcdef" },
        { name: "acme", senders: ["own"] },
      ],
    };

    expect(() => parseAccounts(json)).toThrow(
      "wrong accounts: accounts.0.api_key (where the key is: `parameter: /name/of/an/ssm/parameter`, or `environment: VARIABLE`; never the key itself), accounts.1.name (the same as accounts.0.name)",
    );
  });
});
