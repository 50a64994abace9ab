import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import {
  consoleOf,
  runSkyhook,
  type SkyhookProcess,
  startSkyhook,
} from "../../support/skyhook-process.ts";

let endHanging = (): void => undefined;
const hanging = new Promise<void>((resolve) => {
  endHanging = resolve;
});

/** Containers are locked, one request hangs, and a create of a router gets no reply. */
const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const path = request.url ?? "";
  if (request.method === "POST") response.destroy();
  else if (path.endsWith("/slow")) {
    void hanging.then(() => response.writeHead(200).end('{"tasks":[]}'));
  } else if (path.endsWith("/working")) response.writeHead(200).end('{"tasks":["t1"]}');
  else if (path.includes("/tasks/")) response.writeHead(200).end('{"id":"t1","state":"RUNNING"}');
  else response.writeHead(409).end('{"message":"locked"}');
};

const provider = createServer((request, response) => {
  request.resume().on("end", () => answer(request, response));
});
let program: SkyhookProcess;
let environment: Record<string, string>;

const skyhook = (...args: readonly string[]) => runVerb(args, environment);

/** Sends as `skyhook send` does. */
const send = async (commandId: string, data: object): Promise<void> => {
  const answer = await fetch(`${environment.SKYHOOK_ENDPOINT}/commands`, {
    method: "POST",
    headers: consoleOf(program).headers,
    body: JSON.stringify({ metadata: { id: commandId, commandId }, data }),
  });
  expect(answer.status).toBe(202);
};
const sendUpdate = (name: string, more: object = {}): Promise<void> =>
  send(name, {
    operation: "update-container",
    params: { project_id: 1, region_id: 2, container_name: name },
    body: { description: "x" },
    ...more,
  });

/** Waits until the command's status contains the text. */
const until = async (id: string, text: string): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${environment.SKYHOOK_ENDPOINT}/commands/${id}`, {
      headers: consoleOf(program).headers,
    });
    if ((await answer.text()).includes(text)) return;
    await sleep(50);
  }
};
const report = async (id: string): Promise<string> => (await skyhook("status", id)).stdout;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const args = ["start", "--json", "--no-lists", "--base-url", baseUrl];
  program = startSkyhook(args, { SKYHOOK_API_KEY: "1_key" });
  await program.printed("What can be sent");
  const endpoint = /listens at (\S+)/.exec(program.stderr())?.[1] ?? "none";
  environment = { SKYHOOK_ENDPOINT: endpoint };
});

afterAll(async () => {
  program.child.kill("SIGTERM");
  await program.ended();
  provider.close();
});

describe("skyhook cancel", () => {
  it.concurrent("ends a command that cannot be sent, and the commands that wait for it", async () => {
    await sendUpdate("locked");
    await sendUpdate("dependant", { after: ["locked"] });
    await until("locked", "409 locked: locked");
    const before = await report("locked");

    const ended = await skyhook("cancel", "locked");
    await until("dependant", '"reason":"dependency"');

    expect(before).toMatch(/\n {2}next: npx skyhook cancel locked\n$/);
    expect(ended).toEqual({
      exitCode: 0,
      stdout: "locked is cancelled; it had no effect\n",
      stderr: "",
    });
    expect(await report("locked")).toMatch(/\n {2}cancelled by an operator at \d/);
  });

  it.concurrent("waits for a request in flight for a limited time", async () => {
    await sendUpdate("slow");
    await until("slow", '"for":"reply"');

    const hasty = await runSkyhook(["cancel", "slow", "--wait-seconds", "0"], environment);
    const waiting = runSkyhook(["cancel", "slow"], environment);
    endHanging();
    const patient = await waiting;

    expect(hasty).toMatchObject({ exitCode: 4, stdout: "" });
    expect(hasty.stderr).toMatch(
      /^slow is not cancelled: a request is in flight; its result is known within \d+ s: try again/,
    );
    expect(patient).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "slow has ended already: succeeded\n",
    });
  });

  it.concurrent("names the tasks that the provider works on", async () => {
    await sendUpdate("working");
    await until("working", '"for":"tasks"');

    expect(await skyhook("cancel", "working")).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "working cannot be cancelled: the provider works on task t1, which Skyhook follows to its end\n",
    });
  });

  it.concurrent("prints JSON for scripts", async () => {
    await sendUpdate("scripted");
    await until("scripted", "409");

    const ended = await skyhook("cancel", "scripted", "--json");

    expect(JSON.parse(ended.stdout)).toMatchObject({
      commandId: "scripted",
      kind: "stopped",
      status: "cancelled",
      reason: "requested",
    });
  });

  it.concurrent("reports an unknown command", async () => {
    const ended = await skyhook("cancel", "none");

    expect(ended).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "no command none found: it was never sent, is still queued, or was rejected; check the id and --sender\n",
    });
  });

  it.concurrent.each(["soon", "-1", "1.5"])("refuses %s as a number of seconds", async (text) => {
    const ended = await skyhook("cancel", "none", `--wait-seconds=${text}`);

    expect(ended).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "--wait-seconds: must be a whole number of seconds\n",
    });
  });
});

describe("skyhook resolve", () => {
  const sendRouter = async (id: string, regionId: number): Promise<void> => {
    const params = { project_id: 1, region_id: regionId };
    await send(id, { operation: "create-router", params, body: { name: "router" } });
    await until(id, "unknown-outcome");
  };

  it.concurrent("records the operator's resolution and shows it in the event and the status", async () => {
    await sendRouter("router", 2);
    const before = await report("router");

    const args = ["resolve", "router", "--applied", "--note", "it\nis there"];
    const ended = await runSkyhook(args, environment);
    await program.printed("CommandResolved");

    expect(before).toContain(
      "\n  next: check the effect at the provider, then npx skyhook resolve router --applied | --not-applied\n",
    );
    expect(ended).toEqual({
      exitCode: 0,
      stdout: "router is resolved: it took effect\n",
      stderr: "",
    });
    expect(await report("router")).toMatch(
      /\n {2}resolved by an operator at \S+: it took effect \(it is there\)\n/,
    );
  });

  it.concurrent("accepts a repeat, and rejects a different resolution", async () => {
    await sendRouter("twice", 3);
    await skyhook("resolve", "twice", "--not-applied");

    const same = await skyhook("resolve", "twice", "--not-applied", "--json");
    const other = await skyhook("resolve", "twice", "--applied");

    expect(JSON.parse(same.stdout)).toMatchObject({ kind: "resolved", applied: false });
    expect(other).toMatchObject({ exitCode: 2, stdout: "" });
    expect(other.stderr).toMatch(
      /^twice was resolved before, at \S+: it did not take effect; a resolution is final\n$/,
    );
  });

  it.concurrent.each([
    ["neither", []],
    ["both", ["--applied", "--not-applied"]],
  ])("requires exactly one verdict option, not %s", async (_what, flags) => {
    expect(await skyhook("resolve", "none", ...flags)).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "resolve: needs either --applied or --not-applied\n",
    });
  });

  it.concurrent.each([
    ["empty", " "],
    ["too long", "x".repeat(501)],
    ["not plain text", "a\u001b[2Jb"],
  ])("refuses a note that is %s", async (_what, note) => {
    const ended = await skyhook("resolve", "none", "--applied", "--note", note);

    expect(ended.stderr).toBe("--note: must be plain text of 1 to 500 characters\n");
  });

  it.concurrent("refuses a command with a known outcome, and shows the outcome", async () => {
    await sendUpdate("known");
    await until("known", "409");
    const early = await skyhook("resolve", "known", "--applied");
    await skyhook("cancel", "known");

    const late = await skyhook("resolve", "known", "--applied");

    expect(early.stderr).toBe(
      "known cannot be resolved: it has not ended (running); state: npx skyhook status known\n",
    );
    expect(late).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "known cannot be resolved: it ended as cancelled (requested), not as unknown-outcome\n",
    });
  });
});
