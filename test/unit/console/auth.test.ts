import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Admin } from "../../../lib/admin/admin.ts";
import { createConsoleApp } from "../../../lib/console/app.ts";
import { openConsole, type ServedConsole } from "../../../lib/console/console.ts";
import { CONSOLE_CHANGES, CONSOLE_READS } from "../../support/console-routes.ts";
import { silentLog } from "../../support/logs.ts";

const TOKEN = "the-token";
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const JSON_TYPE = { "content-type": "application/json" };

const calls: string[] = [];

const called = async (name: string) => {
  calls.push(name);
  return undefined;
};

/** An admin that records which of its methods ran. */
const CLOCK = { now: "2026-01-01T00:00:00.000Z", frozen: false, aheadMs: 0 };

const admin: Admin = {
  session: async () => ({ kind: "local", name: "local", sender: "000000000000", accounts: [] }),
  list: async () => ({ rows: [] }),
  look: () => called("look"),
  open: async () => ({ at: "", lanes: [], tasks: [], commands: 0, more: false }),
  cancel: () => called("cancel"),
  bulkCancel: {
    preview: () => called("preview").then(() => ({ rows: [], until: "" })),
    apply: () => called("apply").then(() => ({ rows: [], until: "" })),
  },
  resolve: () => called("resolve"),
  liftPause: () => called("liftPause"),
  deadLetters: {
    list: async () => ({ deadLetters: [], more: 0 }),
    redrive: () => called("redrive").then(() => []),
    remove: () => called("remove").then(() => []),
    previewRedrive: () => called("previewRedrive").then(() => ({ outcomes: [], until: "" })),
    previewRemove: () => called("previewRemove").then(() => ({ outcomes: [], until: "" })),
  },
  prices: {
    list: async () => [],
    history: () => called("history"),
    changes: async () => [],
    totals: async () => ({ bucket: null, totals: [], leftOut: [] }),
  },
  events: { isLive: true, recent: () => [], async *follow() {} },
  thresholds: async () => ({
    account: "a",
    config: { kind: "not-configured" },
    actualFrom: "none",
    rows: [],
    lastSync: null,
    drifts: [],
  }),
  aiTasks: async () => ({ account: "a", watch: null, open: [], over: [] }),
  send: () => called("send").then(() => ({ commandId: "c1", eventId: "e1" })),
  put: () => called("put").then(() => ({ id: "e1", account: "000000000000", rules: [] })),
  runJob: () => called("runJob").then(() => ({ kind: "not-configured" })),
  check: () => called("check").then(() => ({ problems: [] })),
  task: () => called("task"),
  provider: {
    state: async () => ({ baseUrl: "", kinds: [] }),
    records: () => called("records"),
    tasks: async () => ({ count: 0, tasks: [] }),
    requests: async () => [],
    faults: async () => ({ rules: [], operations: [], kinds: [] }),
    addFault: () => called("addFault").then(() => ({ id: "fault-1", rule: "", struck: 0 })),
    removeFault: () => called("removeFault"),
    clock: async () => CLOCK,
    advanceClock: () => called("advanceClock").then(() => CLOCK),
    freezeClock: () => called("freezeClock").then(() => CLOCK),
    resumeClock: () => called("resumeClock").then(() => CLOCK),
  },
};

const READS = [...CONSOLE_READS, "/no-such-path"];
const CHANGES = CONSOLE_CHANGES;

const options = {
  admin,
  token: TOKEN,
  allowsChanges: true,
  readAsset: async (name: string) => `file ${name}`,
  log: silentLog,
};
const app = createConsoleApp(options);
const ORIGIN = "http://127.0.0.1:4747";

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  app.request(`${ORIGIN}${path}`, {
    method,
    headers,
    ...(method === "POST" && { body: '{"all":true}' }),
  });

beforeEach(() => {
  calls.length = 0;
});

it.each([
  ["GET", CONSOLE_READS],
  ["POST", CONSOLE_CHANGES],
])("every route by %s is in the list of the tests", (method, paths) => {
  const forms = app.routes
    .filter((route) => route.method !== "ALL")
    .filter((route) => route.method === method || !["GET", "POST"].includes(route.method))
    .map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`));

  expect(forms.length).toBeGreaterThan(8);
  const known = paths.map((path) => path.replace(/\?.*/, ""));
  for (const form of forms) expect(known).toContainEqual(expect.stringMatching(form));
});

describe("a request without the token", () => {
  it.each(READS)("gets 401 and no answer: GET %s", async (path) => {
    for (const headers of [{}, { authorization: "Bearer other" }, { cookie: "skyhook-4747=x" }]) {
      const answer = await ask(path, headers);
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain("file");
    }
  });

  it.each(CHANGES)("changes nothing: POST %s", async (path) => {
    expect((await ask(path, JSON_TYPE, "POST")).status).toBe(401);
    expect(calls).toEqual([]);
  });

  it("gets 401 for the printed address with another token", async () => {
    const answer = await ask("/?token=other");

    expect(answer.status).toBe(401);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});

it("names the printed address to a person who opens the page without the token", async () => {
  const answer = await ask("/", { "sec-fetch-mode": "navigate" });

  expect(answer.status).toBe(401);
  expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await answer.text()).toMatch(/^Skyhook: no valid token: open the address that Skyhook/);
});

describe("the printed address", () => {
  it("sets a cookie that no script reads and no other site's page sends, and leads to the page", async () => {
    const answer = await ask(`/?token=${TOKEN}`);

    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe("/");
    expect(answer.headers.get("set-cookie")).toBe(
      "skyhook-4747=the-token; Path=/; HttpOnly; SameSite=Strict",
    );
    const page = await ask("/", { cookie: "skyhook-4747=the-token" });
    expect(await page.text()).toBe("file index.html");
  });

  it("does not open the console of another port", async () => {
    const answer = await ask("/session", { cookie: "skyhook-4748=the-token" });

    expect(answer.status).toBe(401);
  });
});

describe("a request of another origin's page", () => {
  it.each([
    ["Origin", { origin: "http://evil.example" }],
    ["Origin of another port", { origin: "http://127.0.0.1:3000" }],
    ["Origin of a sandbox", { origin: "null" }],
    ["Sec-Fetch-Site", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }],
  ])("gets 403 before its path is read: %s", async (_what, headers) => {
    for (const path of ["/commands", "/no-such-path"]) {
      const answer = await ask(path, { ...AUTHORIZED, ...JSON_TYPE, ...headers }, "POST");
      expect(answer.status).toBe(403);
    }
    expect(calls).toEqual([]);
  });

  it("may lead to the page", async () => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };

    expect((await ask(`/?token=${TOKEN}`, headers)).status).toBe(303);
    expect((await ask("/", { ...AUTHORIZED, ...headers })).status).toBe(200);
  });

  // A page at another port gets the cookie along, and a stage hides the dead letters that are read.
  it.each(READS.filter((path) => path !== "/"))("may not lead to a read: %s", async (path) => {
    const headers = { ...AUTHORIZED, "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" };

    expect((await ask(path, headers)).status).toBe(403);
    expect(calls).toEqual([]);
  });
});

describe("a request with the token", () => {
  it.each(CHANGES)("is refused with another content type: POST %s", async (path) => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
      const answer = await ask(path, { ...AUTHORIZED, "content-type": type }, "POST");
      expect(answer.status).toBe(415);
    }
    expect((await ask(path, AUTHORIZED, "POST")).status).toBe(415);
    expect(calls).toEqual([]);
  });

  it.each(CHANGES.filter((path) => path !== "/commands"))(
    "cannot change anything by GET: %s",
    async (path) => {
      await ask(path, AUTHORIZED);

      expect(calls.filter((name) => name !== "look")).toEqual([]);
    },
  );

  it.each(CHANGES)("changes nothing at a read-only console: POST %s", async (path) => {
    const readOnly = createConsoleApp({ ...options, allowsChanges: false });
    const headers = { ...AUTHORIZED, ...JSON_TYPE };

    const answer = await readOnly.request(`${ORIGIN}${path}`, { method: "POST", headers });

    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual({
      error: "this console is read-only; start it again with --allow-changes",
    });
    expect(calls).toEqual([]);
  });

  it("gets answers that no cache keeps and no frame shows", async () => {
    for (const path of READS) {
      const { headers } = await ask(path, { ...AUTHORIZED, origin: ORIGIN });
      expect(headers.get("cache-control"), path).toBe("no-store");
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("content-security-policy"), path).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
      );
    }
  });

  it("reads which parts the console has", async () => {
    const answer = await ask("/session", AUTHORIZED);

    expect(await answer.json()).toMatchObject({
      kind: "local",
      allowsChanges: true,
      features: expect.arrayContaining(["put", "runJob", "send"]),
    });
  });
});

describe("a served console", () => {
  let served: ServedConsole;
  beforeEach(async () => {
    served = await openConsole(options, 0);
  });
  afterEach(() => served.close());

  it("refuses a foreign Host header before it reads the token", async () => {
    const headers = { ...AUTHORIZED, host: "evil.example:80" };
    const status = await new Promise((resolve, reject) => {
      request(`${served.url}/session`, { headers })
        .on("response", (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });

    expect(status).toBe(403);
  });

  it("names an address that opens the page", async () => {
    const answer = await fetch(served.pageUrl, { redirect: "manual" });

    expect(answer.status).toBe(303);
    expect(new URL(served.pageUrl).origin).toBe(served.url);
  });
});
