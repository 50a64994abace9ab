import * as z from "zod";
import type { ConfigReading } from "../config/config-file.ts";
import type { PlacedProblem } from "../contract/problem.ts";
import type { AccountsConfig } from "./accounts-config.ts";
import { readAccountsFile } from "./accounts-file.ts";
import { rulesOfDeployment } from "./cross-field-rules.ts";

/** As much of a file as the rule below looks at. */
const keySchema = z.object({ api_key: z.object({ environment: z.string() }) });
const looseSchema = z.object({ accounts: z.array(z.unknown()) });

/** A shell has variables that hold keys; a function's are for everybody to read who may see it. */
const keysInEnvironment = (content: unknown): readonly PlacedProblem[] =>
  (looseSchema.safeParse(content).data?.accounts ?? []).flatMap((account, index) =>
    keySchema.safeParse(account).success
      ? [
          {
            path: ["accounts", index, "api_key", "environment"],
            rule: "for local runs only; a deployment reads keys from SSM: parameter",
          },
        ]
      : [],
  );

/** Reads an accounts file that is to be deployed; every mistake with its line. */
export const readDeployedAccounts = (text: string): ConfigReading<AccountsConfig> =>
  readAccountsFile(text, (content) => [
    ...rulesOfDeployment(content),
    ...keysInEnvironment(content),
  ]);
