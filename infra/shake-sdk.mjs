/**
 * Shakes off a bundle what the AWS clients in it never use. A client describes all its operations
 * and errors in one file that esbuild has to keep nearly whole: it cannot know that an array whose
 * objects have computed keys does nothing when it is made, and every error is registered.
 */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const DESCRIPTION =
  /[\\/]@aws-sdk[\\/]client-[a-z0-9-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/;

const SHAPE = /^((?:export )?var \w+\$? = )(\[[\s\S]*?\]);$/gm;
const REGISTRATION = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

/**
 * An error that is not registered is thrown as the client's base class, with the same message and
 * status, under the name that AWS sent: the SDK does so with every error that it does not know. So
 * those are kept that our adapters name. Two things differ for the others. SQS sends the names of its
 * old interface (`AWS.SimpleQueueService.NonExistentQueue`), which the SDK translates for those it knows
 * (`QueueDoesNotExist`); to keep its errors costs 10 kB a bundle. And one error would be sent again because of
 * its class, `ReplicatedWriteConflictException` of DynamoDB's global tables; the ledger is none.
 * @param adapters the folder whose files name errors of the SDK
 */
export const shakeSdk = (adapters) => ({
  name: "shake-sdk",
  setup({ onLoad }) {
    const ours = readdirSync(adapters).map((file) => readFileSync(join(adapters, file), "utf8"));
    const isNamed = (error) => ours.some((text) => new RegExp(`\\b${error}\\b`).test(text));
    onLoad({ filter: DESCRIPTION }, async ({ path }) => {
      const description = await readFile(path, "utf8");
      const contents = description
        .replace(REGISTRATION, (line, error) => (isNamed(error) ? line : ""))
        .replace(SHAPE, "$1/* @__PURE__ */ (() => $2)();");
      return { contents, loader: "js" };
    });
  },
});
