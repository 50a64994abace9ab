import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, startSkyhook } from "../../support/skyhook-process.ts";

const THRESHOLDS =
  "prune: true\nthresholds: [{ name: reaching_used_space, bucket_name: mine, bytes: 1 GiB }]\n";
const WATCHLIST = "items: [{ name: ddos, ddos: { region_id: 76 } }]\n";

const running = async (
  { onTestFinished }: TestContext,
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
) => {
  const program = startSkyhook(["start", "--no-demo", "--port", "0", ...args], environment);
  onTestFinished(async () => {
    program.child.kill("SIGKILL");
    await program.ended();
  });
  await program.printed("What can be sent");
  const endpoint = /listens at (\S+)/.exec(program.stderr())?.[1] ?? "none";
  const run = (...job: readonly string[]) => runVerb(["run", ...job, "--endpoint", endpoint]);
  return { program, run, endpoint };
};

const newFolder = async ({ onTestFinished }: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-run-job-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

describe("skyhook run on a running Skyhook", () => {
  it.concurrent("waits for the end of each job and prints its events", async (context) => {
    const { expect } = context;
    const folder = await newFolder(context);
    const [thresholds, watchlist] = [join(folder, "t.yaml"), join(folder, "w.yaml")];
    await writeFile(thresholds, THRESHOLDS);
    await writeFile(watchlist, WATCHLIST);
    const files = ["--thresholds", thresholds, "--watchlist", watchlist];
    const { program, run, endpoint } = await running(context, {}, files);
    await program.printed("synced: ");
    await program.printed("captured: ");

    const synced = await runSkyhook(["run", "sync-thresholds", "--endpoint", endpoint]);
    const captured = await run("snapshot-prices", "--json");
    const watched = await run("watch-ai-tasks");

    expect(synced).toMatchObject({ exitCode: 0, stderr: "" });
    expect(synced.stdout).toBe("sync-thresholds: synced: 1 unchanged\n");
    expect(captured).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(captured.stdout)).toMatchObject({
      kind: "ended",
      events: [{ detailType: "PricesCaptured", data: { unchanged: 1 } }],
    });
    expect(watched).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.concurrent("ends with status 1 and the mistakes when the job's file is invalid", async (context) => {
    const { expect } = context;
    const thresholds = join(await newFolder(context), "t.yaml");
    await writeFile(thresholds, THRESHOLDS.replace("1 GiB", "1 GiG"));
    const { run } = await running(context, {}, ["--thresholds", thresholds]);

    const ended = await run("sync-thresholds");

    expect(ended.exitCode).toBe(1);
    expect(ended.stdout).toMatch(/^sync-thresholds: rejected: line 2: thresholds\.0\.bytes: /);
    expect(ended.stderr).toBe("");
  });

  it.concurrent("ends with status 1 when the provider refuses a threshold", async (context) => {
    const { expect } = context;
    const thresholds = join(await newFolder(context), "t.yaml");
    await writeFile(thresholds, `client_id: 77\n${THRESHOLDS}`);
    const { program, run } = await running(context, {}, ["--thresholds", thresholds]);
    await program.printed("partly synced");

    const ended = await run("sync-thresholds");

    expect(ended.stdout).toMatch(/^sync-thresholds: partly synced: 1 failed$/m);
    expect(ended.exitCode).toBe(1);
  });

  it.concurrent("refuses a job that is not configured, and names the flag", async (context) => {
    const { expect } = context;
    const { run } = await running(context, { SKYHOOK_API_KEY: "1_key" }, [
      ...["--base-url", "http://127.0.0.1:1"],
    ]);

    const ends = [
      await run("sync-thresholds"),
      await run("snapshot-prices"),
      await run("watch-ai-tasks"),
      await run("poll-tasks"),
    ];

    const refused = (text: string) => ({ exitCode: 2, stdout: "", stderr: `${text}\n` });
    expect(ends.slice(0, 3)).toEqual([
      refused(
        "sync-thresholds is not configured; restart Skyhook: npx skyhook start --thresholds FILE",
      ),
      refused(
        "snapshot-prices is not configured; restart Skyhook: npx skyhook start --watchlist FILE",
      ),
      refused(
        "watch-ai-tasks is not configured; restart Skyhook: npx skyhook start --ai-tasks WHICH",
      ),
    ]);
    expect(ends[3]).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it.concurrent("prints the error of a job that failed in one line, and ends with status 1", async (context) => {
    const { expect } = context;
    const server = createServer((_request, response) => response.writeHead(404).end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    context.onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const thresholds = join(await newFolder(context), "t.yaml");
    await writeFile(thresholds, THRESHOLDS);
    const { run } = await running(context, { SKYHOOK_API_KEY: "1_key" }, [
      ...["--base-url", `http://127.0.0.1:${(server.address() as AddressInfo).port}`],
      ...["--thresholds", thresholds],
    ]);

    const ended = await run("sync-thresholds");

    expect(ended.exitCode).toBe(1);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toMatch(/^sync-thresholds failed: [^\n]+\n$/);
  });
});

interface Invocation {
  readonly path: string;
  readonly type: string | undefined;
  readonly payload: unknown;
}

/** The part of Lambda's Invoke API that the command uses. */
const openLambda = async (
  { onTestFinished }: TestContext,
  status: number,
  headers: Readonly<Record<string, string>>,
  answer: string,
) => {
  const invocations: Invocation[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    invocations.push({
      path: request.url ?? "",
      type: request.headers["x-amz-invocation-type"]?.toString(),
      payload: JSON.parse(Buffer.concat(chunks).toString()),
    });
    response.writeHead(status, headers).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const environment = {
    AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const run = (job: string, ...flags: readonly string[]) =>
    runVerb(["run", job, "--stage", "test", ...flags], environment);
  return { invocations, run };
};

describe("skyhook run --stage", () => {
  it.concurrent("invokes the function with the payload of its schedule, and waits for its end", async (context) => {
    const { expect } = context;
    const { invocations, run } = await openLambda(context, 200, {}, "null");

    const ended = await run("snapshot-prices");

    expect(ended).toEqual({
      exitCode: 0,
      stdout: "snapshot-prices ended; for the results, see its events and its log\n",
      stderr: "",
    });
    expect(invocations).toEqual([
      {
        path: "/2015-03-31/functions/skyhook-test-snapshot-prices/invocations",
        type: "RequestResponse",
        payload: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/),
        },
      },
    ]);
  });

  it.concurrent("prints a function's error in one line, and ends with status 1", async (context) => {
    const { expect } = context;
    const failure = JSON.stringify({
      ...{ errorType: "UnfinishedSyncError", errorMessage: "2 changes\nare left" },
      trace: ["at somewhere"],
    });
    const headers = { "x-amz-function-error": "Unhandled" };
    const { invocations, run } = await openLambda(context, 200, headers, failure);

    const ended = await run("sync-thresholds");

    expect(ended).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "sync-thresholds failed: UnfinishedSyncError: 2 changes\\u000aare left\n",
    });
    expect(invocations).toHaveLength(1);
  });

  it.concurrent("reports a missing function", async (context) => {
    const { expect } = context;
    const headers = { "x-amzn-errortype": "ResourceNotFoundException" };
    const answer = JSON.stringify({ Type: "User", Message: "Function not found" });
    const { run } = await openLambda(context, 404, headers, answer);

    const ended = await run("watch-ai-tasks");

    expect(ended).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "no function skyhook-test-watch-ai-tasks in this AWS account and region; check --stage and AWS_REGION\n",
    });
  });

  it.concurrent("invokes once if Lambda throttles, and reports the throttling", async (context) => {
    const { expect } = context;
    const headers = { "x-amzn-errortype": "TooManyRequestsException" };
    const answer = JSON.stringify({ Type: "User", message: "Rate Exceeded." });
    const { invocations, run } = await openLambda(context, 429, headers, answer);

    const ended = await run("watch-ai-tasks");

    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toBe(
      "watch-ai-tasks was not started: Lambda throttles its function; try again later\n",
    );
    expect(invocations).toHaveLength(1);
  });
});
