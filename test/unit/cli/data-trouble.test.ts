import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  consoleOf,
  runSkyhook,
  type SkyhookProcess,
  startSkyhook,
} from "../../support/skyhook-process.ts";
import { openTableServer } from "../../support/table-server.ts";

/** Without load, each test takes a few seconds. */
const TIMEOUT = { timeout: 300_000 };

/** Simulates a full disk: no file grows beyond this number of 512-byte blocks. */
const upTo = (blocks: number): readonly string[] => [
  "sh",
  "-c",
  `ulimit -f ${blocks}; exec "$@"`,
  "sh",
];

let folder: string;
let data: string;
let full: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-trouble-"));
  data = join(folder, "data");
  full = `data directory ${data}: no space left on the disk; free some space and start again. Acknowledged commands are kept\n`;
  onTestFinished(() => rm(folder, { recursive: true }));
});

const startOn = async (launcher: readonly string[] = []): Promise<SkyhookProcess> => {
  const program = startSkyhook(["start", "--no-demo", "--data", data], {}, "", launcher);
  await program.printed("What can be sent");
  return program;
};

const send = ({ url, headers }: ReturnType<typeof consoleOf>, id: string): Promise<Response> =>
  fetch(`${url}/commands`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      metadata: { id: `event-${id}`, commandId: id },
      data: {
        operation: "update-policy",
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        body: { status: "active" },
      },
    }),
  });

/** Sends commands until one is not acknowledged. */
const sendUntilRefused = async (
  gateway: ReturnType<typeof consoleOf>,
): Promise<readonly string[]> => {
  const acknowledged: string[] = [];
  for (;;) {
    const id = `c${acknowledged.length + 1}`;
    const answer = await send(gateway, id).catch(() => undefined);
    if (answer?.status !== 202) return acknowledged;
    acknowledged.push(id);
  }
};

describe("a full disk", TIMEOUT, () => {
  it("ends a run with one line, and the next run has every command that was acknowledged", async () => {
    const program = await startOn(upTo(250));
    const before = program.stderr().length;

    const acknowledged = await sendUntilRefused(consoleOf(program));

    expect(await program.ended()).toBe(2);
    expect(program.stderr().slice(before).trimStart()).toBe(full);
    expect(acknowledged.length).toBeGreaterThan(10);
    const next = await startOn();
    for (const id of acknowledged) {
      const statusNow = async () => {
        const { url, headers } = consoleOf(next);
        const answer = await fetch(`${url}/commands/${id}`, { headers });
        return JSON.stringify(await answer.json());
      };
      await expect.poll(statusNow, TIMEOUT).toContain('"status":"succeeded"');
    }
    next.child.kill("SIGTERM");
    expect(await next.ended()).toBe(0);
  });

  it("ends the service alone with one line", async () => {
    const service = startSkyhook(["service", "--data", data, "--api-key", "k"], {}, "", upTo(250));
    await service.printed("the service listens at this address");
    const before = service.stderr().length;
    const url = `${service.stdout().trim()}/cloud/v1/lifecycle_policy/1234567/76/1`;
    const rename = (name: string) =>
      fetch(url, {
        method: "PATCH",
        headers: { authorization: "apikey k", "content-type": "application/json" },
        body: JSON.stringify({ name }),
      });

    let changes = 0;
    while ((await rename(`policy-${changes}`).catch(() => undefined))?.status === 200) changes += 1;

    expect(await service.ended()).toBe(2);
    expect(service.stderr().slice(before).trimStart()).toBe(full);
    const next = startSkyhook(["service", "--data", data]);
    await next.printed("the service listens at this address");
    next.child.kill("SIGTERM");
    expect(await next.ended()).toBe(0);
    expect(changes).toBeGreaterThan(10);
  });

  it("leaves a ledger of an earlier format unchanged, and the next run copies it", async () => {
    await mkdir(join(data, "ledger"), { recursive: true });
    await writeFile(join(data, "skyhook.json"), '{"format":3,"fingerprintKey":"the key"}');
    const table = join(data, "ledger", "table-1");
    const server = await openTableServer("skyhook-local", table);
    const client = new DynamoDBClient(server.clientConfig);
    const value = { S: JSON.stringify({ text: "x".repeat(150_000) }) };
    for (const key of ["a", "b", "c"]) {
      const Item = { pk: { S: key }, version: { N: "1" }, value };
      await client.send(new PutItemCommand({ TableName: "skyhook-local", Item }));
    }
    client.destroy();
    await server.close();
    await cp(table, join(folder, "before"), { recursive: true });

    const ended = await runSkyhook(["start", "--data", data], {}, "", upTo(600));

    expect(ended).toEqual({ exitCode: 2, stdout: "", stderr: full });
    expect(JSON.parse(await readFile(join(data, "skyhook.json"), "utf8"))).toMatchObject({
      format: 3,
    });
    const next = await startOn();
    next.child.kill("SIGTERM");
    expect(await next.ended()).toBe(0);
    expect(await readdir(join(data, "ledger"))).toEqual(["items"]);
  });
});

describe("a data directory that other users can read", TIMEOUT, () => {
  const modesIn = async (path: string): Promise<readonly string[]> => {
    const names = ["", ...(await readdir(path, { recursive: true }))];
    const stats = await Promise.all(names.map((name) => stat(join(path, name))));
    return stats.map((each) => (each.isDirectory() ? "folder " : "file ") + modeText(each.mode));
  };
  const modeText = (mode: number): string => (mode & 0o777).toString(8);

  it("becomes private at the start, with every file of the run", async () => {
    await mkdir(data);
    await chmod(data, 0o755);
    const first = await startOn(["sh", "-c", 'umask 022; exec "$@"', "sh"]);
    const running = await modesIn(data);
    await send(consoleOf(first), "c1");
    first.child.kill("SIGTERM");
    await first.ended();
    const ended = await modesIn(data);

    expect(new Set(running)).toEqual(new Set(["folder 700", "file 600"]));
    expect(new Set(ended)).toEqual(new Set(["folder 700", "file 600"]));
  });
});
