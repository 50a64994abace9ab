import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { Command } from "commander";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test, vi } from "vitest";
import {
  type CommandLine,
  commandLine,
  DATA_FILE,
  type FilledForm,
} from "../../../lib/admin/command-line.ts";
import { createForms, type FormField, type OperationForm } from "../../../lib/admin/forms.ts";
import { declareSend } from "../../../lib/cli/commands/send.ts";
import { addFieldOptions, requestData } from "../../../lib/cli/field-flags.ts";
import { OPERATION_EXAMPLES } from "../../../lib/contract/operation-examples.ts";
import { COMMANDED, commandedOperation } from "../../../lib/contract/operations.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";

const directory = mkdtempSync(join(tmpdir(), "skyhook-line-"));
afterAll(() => rmSync(directory, { recursive: true }));

const { operations } = createForms();

const formOf = (id: string): OperationForm => {
  const form = operations.find((each) => each.id === id);
  if (!form) throw new Error(`no form ${id}`);
  return form;
};

/** The words that a POSIX shell reads from a line, after the operation. The file of `--data` is in the directory. */
const wordsOf = ({ parts, file }: CommandLine): readonly string[] => {
  if (file) writeFileSync(join(directory, DATA_FILE), JSON.stringify(file));
  const script = `set -- ${parts.join(" \\\n  ")}\nprintf '%s\\0' "$@"`;
  const words = execFileSync("sh", ["-c", script], { cwd: directory }).toString().split("\0");
  expect(words.slice(0, 3)).toEqual(["npx", "skyhook", "send"]);
  return words
    .slice(4, -1)
    .map((word) => (word === `@${DATA_FILE}` ? `@${join(directory, DATA_FILE)}` : word));
};

/** The request that the command line makes of a line. */
const requestOf = (id: string, line: CommandLine) => {
  const operation = commandedOperation(id);
  const command = new Command().exitOverride();
  const input = addFieldOptions(command, operation);
  command.parse([...wordsOf(line)], { from: "user" });
  return requestData(operation, input());
};

const HOSTILE = [
  "'; touch /tmp/pwned; '",
  "$(touch /tmp/pwned)",
  "`touch /tmp/pwned`",
  "a\nb\r\n\u001b[2J\u0000",
  "\u202etxt",
  "--body",
  "-x",
  "@/etc/passwd",
  "null",
  '"quoted"',
  "5",
  "007",
  "1e3",
  "18446744073709551616",
  "true",
  "{}",
  "\\",
  "!!",
  "*",
  "~",
  "",
  "\ud83d",
  "</script><script>alert(1)</script>",
];

const anyText = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary" }), fc.string());

/** Values as the page makes them of typed text. */
const typed = (field: FormField): fc.Arbitrary<unknown> => {
  const none = field.nullable ? [fc.constant(null)] : [];
  switch (field.control) {
    case "integer":
      return fc.oneof(fc.maxSafeInteger(), anyText, ...none);
    case "uint64":
      return fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 66n }).map(String), anyText);
    case "boolean":
      return fc.oneof(fc.boolean(), ...none);
    case "text":
    case "choice":
      return fc.oneof(anyText, ...none);
    default:
      return fc.oneof(fc.jsonValue(), fc.dictionary(anyText, anyText), ...none);
  }
};

const valuesOf = (fields: readonly FormField[]) =>
  fc.record(Object.fromEntries(fields.map((field) => [field.name, typed(field)])), {
    requiredKeys: [],
  });

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the command line of a form", () => {
  test.each(operations.map(({ id }) => id))("makes the request of the filled form: %s", (id) => {
    const form = formOf(id);
    const filled = fc.record({
      params: valuesOf(form.params),
      query: valuesOf(form.query),
      ...(form.body && { body: valuesOf(form.body) }),
    });
    fc.assert(
      fc.property(filled, (values) => {
        const line = commandLine(form, values);

        expect(asJson(requestOf(id, line))).toEqual(asJson({ operation: id, ...values }));
      }),
      { numRuns: 60 },
    );
  });

  it("has one option per field, easy to read", () => {
    const line = commandLine(formOf("update-storage-event"), {
      query: { client_id: 7 },
      body: { name: "reaching_used_space", bucket_name: "a b", bytes: "18446744073709551615" },
    });

    expect(line).toEqual({
      parts: [
        "npx skyhook send update-storage-event",
        "--client-id 7",
        "--name reaching_used_space",
        "--bucket-name 'a b'",
        "--bytes 18446744073709551615",
      ],
    });
  });

  it("keeps secrets out of the line, in a file", () => {
    const body = { envs: { TOKEN: "hush-1" }, pull_secret: "hush-2", timeout: 30 };

    const { parts, file } = commandLine(formOf("update-container"), { body });

    expect(parts).toEqual([
      "npx skyhook send update-container",
      "--timeout 30",
      "--data @request.json",
    ]);
    expect(file).toEqual({ body: { envs: { TOKEN: "hush-1" }, pull_secret: "hush-2" } });
  });

  it("has no character that steers a terminal, unless it is in an id", () => {
    for (const text of HOSTILE) {
      const { parts } = commandLine(formOf("update-container"), {
        params: { container_name: text },
        body: { description: text, scale: { [text]: text } },
        guards: [{ key: text }],
      });

      expect(parts.join(" ")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u);
    }
  });
});

describe("the whole command line of a form", () => {
  const posted: unknown[] = [];
  const running = createServer(async (request, response) => {
    posted.push(await json(request));
    response.writeHead(202).end("{}");
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => running.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => running.close());
  const endpoint = () => `http://127.0.0.1:${(running.address() as AddressInfo).port}`;

  /** The detail that `skyhook send` posts to a running Skyhook. */
  const sentBy = async (line: CommandLine): Promise<unknown> => {
    posted.length = 0;
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const send = new Command().exitOverride();
    declareSend(send, { clock: createSystemClock(), random: createSystemRandom() });
    const [operation = ""] = line.parts[0]?.split(" ").slice(-1) ?? [];
    await send
      .parseAsync([operation, ...wordsOf(line), "--no-wait"], { from: "user" })
      .finally(() => {
        vi.restoreAllMocks();
        process.exitCode = 0;
      });
    return posted[0];
  };

  const network = {
    project_id: 1,
    region_id: 2,
    network_id: "b39792c3-3160-4356-912e-ba396c95cdcf",
  };
  const COMMON: FilledForm = {
    account: "team's",
    commandId: "it's $(id)\nagain",
    deadline: "2026-12-24T18:00:00Z",
    after: ["one", "-two 'three'"],
    guards: [{ network, key: "paid`", equals: "'yes'" }],
    dryRun: true,
  };

  test.each(COMMANDED.map(({ id }) => id))(
    "sends the example of %s with every field",
    async (id) => {
      const { commandId, ...common } = COMMON;
      const example = OPERATION_EXAMPLES[id];

      const line = commandLine(formOf(id), { ...example, ...COMMON }, endpoint());
      const sent = await sentBy(line);

      expect(sent).toMatchObject({
        metadata: { commandId },
        data: { operation: id, ...example, ...common },
      });
    },
  );
});
