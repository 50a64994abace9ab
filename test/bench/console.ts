import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { endedCommands, seedCommands } from "../support/seeded-commands.ts";

/*
 * Measures the console in Chromium: a fresh clone until the first command is visible, the page with 10,000 commands
 * in the ledger, the growth of an open page during an hour's worth of events, and the bytes of the page.
 */

const COMMANDS = 10_000;
/** An hour with a command a second. Each has at least two events. */
const HOUR_COMMANDS = 3_600;
const ROUNDS = 20;

const print = (name: string, value: number, unit: string): void => {
  process.stdout.write(
    `  ${name.padEnd(64)}${value.toFixed(unit === "ms" ? 0 : 1).padStart(8)} ${unit}\n`,
  );
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

const folder = mkdtempSync(join(tmpdir(), "skyhook-bench-"));
/** Ends each run that is still there, also after a failure. */
const running = new Set<() => Promise<void>>();

/** Starts a run. @returns the address of its page */
const start = async (command: string, args: readonly string[], cwd: string) => {
  const child = spawn(command, args, {
    cwd,
    // A group of its own, so that npm's child ends with it.
    detached: true,
    env: { ...process.env, XDG_STATE_HOME: join(folder, "state"), NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async (): Promise<void> => {
    running.delete(stop);
    process.kill(-(child.pid ?? 0), "SIGINT");
    await once(child, "close");
  };
  running.add(stop);
  const pageUrl = await new Promise<string>((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        const [found] = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
    }
    child.on("close", () => reject(new Error(`the run ended:\n${output}`)));
  });
  return { pageUrl, stop };
};

const FIRST_ROW = "main tbody tr";

const measureFreshClone = async (browser: Browser): Promise<void> => {
  const clone = join(folder, "clone");
  execFileSync("git", ["clone", "-q", "--local", process.cwd(), clone]);
  const installed = await timed(async () =>
    execFileSync("npm", ["ci"], { cwd: clone, stdio: "ignore" }),
  );
  print("npm ci in a fresh clone", installed / 1_000, "s");
  const page = await browser.newPage();
  const visible = await timed(async () => {
    const { pageUrl } = await start("npm", ["start", "--", "--port", "0"], clone);
    await page.goto(pageUrl);
    await page.locator(FIRST_ROW).first().waitFor();
  });
  print("npm start until the first command is visible", visible / 1_000, "s");
};

/** Records when the page has 50 rows, in ms since its navigation began. */
const WATCH_ROWS = `
  new MutationObserver(() => {
    if (window.rowsAt === undefined && document.querySelectorAll("${FIRST_ROW}").length >= 50) {
      window.rowsAt = performance.now();
    }
  }).observe(document, { childList: true, subtree: true });
`;
const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime";

/** Milliseconds of each of some equal requests, the first of which finds cold caches. */
const requestTimes = async (pageUrl: string, path: string): Promise<readonly number[]> => {
  const { origin, searchParams } = new URL(pageUrl);
  const headers = { authorization: `Bearer ${searchParams.get("token")}` };
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    times.push(await timed(async () => (await fetch(`${origin}${path}`, { headers })).text()));
  }
  return times;
};

const measureManyCommands = async (browser: Browser): Promise<void> => {
  const data = join(folder, "data");
  await seedCommands(data, endedCommands(COMMANDS, Date.now()));
  const { pageUrl, stop } = await startBuilt(["--no-demo", "--data", data]);
  for (const [name, path] of [
    ["the first 50 of 10,000 commands", "/commands?limit=50"],
    ["the same, failed ones (1 in 100)", "/commands?limit=50&status=failed"],
    ["the same, cancelled ones (none)", "/commands?limit=50&status=cancelled"],
  ] as const) {
    const times = await requestTimes(pageUrl, path);
    print(`${name}: first request`, times[0] ?? Number.NaN, "ms");
    print(`${name}: median of ${ROUNDS}`, median(times), "ms");
  }
  const paints: number[] = [];
  const rows: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript({ content: WATCH_ROWS });
    await page.goto(pageUrl);
    await page.locator(FIRST_ROW).nth(49).waitFor();
    rows.push(await page.evaluate<number>("window.rowsAt"));
    paints.push(await page.evaluate<number>(FIRST_PAINT));
    await context.close();
  }
  print("first contentful paint of the page, no cache, median", median(paints), "ms");
  print("the same, slowest", Math.max(...paints), "ms");
  print("50 rows in the page, median", median(rows), "ms");
  print("the same, slowest", Math.max(...rows), "ms");
  await stop();
};

const startBuilt = (args: readonly string[]) =>
  start(process.execPath, ["dist/skyhook.mjs", "start", "--port", "0", ...args], process.cwd());

const MB = 1_048_576;

const metric = async (cdp: CDPSession, name: string): Promise<number> => {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find((each) => each.name === name)?.value ?? Number.NaN;
};

const heapOf = async (cdp: CDPSession): Promise<number> => {
  await cdp.send("HeapProfiler.collectGarbage");
  return metric(cdp, "JSHeapUsedSize");
};

/** Sends an hour's commands, each to a lane of its own. */
const sendCommands = async (pageUrl: string, prefix: string): Promise<void> => {
  const { origin, searchParams } = new URL(pageUrl);
  const headers = {
    authorization: `Bearer ${searchParams.get("token")}`,
    "content-type": "application/json",
  };
  let sent = 0;
  const sender = async (): Promise<void> => {
    while (sent < HOUR_COMMANDS) {
      sent += 1;
      const commandId = `${prefix}-${sent}`;
      const threshold = { storage_name: "my-storage-prod", bucket_name: commandId, count: "1" };
      const request = { name: "reaching_used_requests", ...threshold };
      const data = { operation: "create-storage-event", params: {}, body: request };
      const body = JSON.stringify({ metadata: { commandId }, data });
      await fetch(`${origin}/commands`, { method: "POST", headers, body });
    }
  };
  await Promise.all(Array.from({ length: 10 }, sender));
};

const openIn = async (browser: Browser, pageUrl: string, hash: string): Promise<Page> => {
  const page = await browser.newPage();
  await page.goto(pageUrl);
  await page.goto(`${new URL(pageUrl).origin}/${hash}`);
  await page.locator("h1").waitFor();
  return page;
};

/** Resolves when no command is open. */
const untilEnded = async (pageUrl: string): Promise<void> => {
  const { origin, searchParams } = new URL(pageUrl);
  const headers = { authorization: `Bearer ${searchParams.get("token")}` };
  for (const status of ["accepted", "waiting", "running", "following"]) {
    for (let isOpen = true; isOpen; ) {
      const answer = await fetch(`${origin}/commands?status=${status}&limit=1`, { headers });
      isOpen = !(await answer.text()).includes('"rows":[]');
    }
  }
};

/** Growth of the heap of two open pages, after the garbage collection. */
const measureGrowth = async (browser: Browser): Promise<void> => {
  const { pageUrl, stop } = await startBuilt(["--no-demo"]);
  for (const hash of ["#/commands", "#/events"]) {
    const page = await openIn(browser, pageUrl, hash);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable");
    const before = await heapOf(cdp);
    await sendCommands(pageUrl, `hour-${hash.slice(2)}`);
    await untilEnded(pageUrl);
    const after = await heapOf(cdp);
    const name = `${hash}, ${HOUR_COMMANDS} commands`;
    print(`${name}: JavaScript heap before`, before / MB, "MB");
    print(`${name}: JavaScript heap after`, after / MB, "MB");
    print(`${name}: DOM nodes after`, await metric(cdp, "Nodes"), "nodes");
    await page.close();
  }
  await stop();
};

const measureBytes = (): void => {
  for (const file of readdirSync("dist/console")) {
    const bytes = readFileSync(join("dist/console", file));
    print(`${file}, compressed (gzip)`, gzipSync(bytes).length / 1_000, "kB");
  }
};

const [node] = process.argv;
const executablePath = execFileSync(node ?? "node", ["infra/chromium.mjs"], {
  encoding: "utf8",
}).trim();
const browser = await chromium.launch({ executablePath });
try {
  measureBytes();
  await measureManyCommands(browser);
  await measureGrowth(browser);
  if (!process.argv.includes("--no-clone")) await measureFreshClone(browser);
} finally {
  await Promise.all([...running].map((stop) => stop()));
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
