import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { parseFault } from "../../../lib/service/fault-text.ts";
import { type OpenService, openService } from "../../../lib/service/open-service.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { EVENT, POLICY } from "./harness.ts";

const HEADERS = {
  authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
  "content-type": "application/json",
};

/** What a client sees of one request: a whole reply, or the error of its connection and what came before it. */
interface Seen {
  readonly status?: number;
  readonly headers?: IncomingHttpHeaders;
  readonly text: string;
  /** Code and message of the connection's error. */
  readonly error?: string;
}

/** Sends a request on a connection of its own. */
const exchange = (url: string, method: string, body?: string): Promise<Seen> =>
  new Promise((resolve) => {
    const sent = httpRequest(url, { method, headers: HEADERS, agent: false }, (reply) => {
      let text = "";
      const { statusCode: status, headers } = reply;
      const seen = (error?: NodeJS.ErrnoException): void =>
        resolve({
          ...(status !== undefined && { status }),
          headers,
          text,
          ...(error && { error: `${error.code} ${error.message}` }),
        });
      reply
        .setEncoding("utf8")
        .on("data", (part) => {
          text += part;
        })
        .once("error", seen)
        .once("end", () => seen());
    });
    sent.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ text: "", error: `${error.code} ${error.message}` }),
    );
    sent.end(body);
  });

const TOKEN = "token-of-the-controls";

/** The public ways to add a rule: as text at the start, and as JSON while the service runs. */
const SWITCHES = ["--fault", "POST /_skyhook/faults"] as const;

/** The service over HTTP with rules in the notation of `--fault`. Its delays pass at once, in virtual time. */
const startFaulty = async (rules: readonly string[], by: (typeof SWITCHES)[number] = "--fault") => {
  const virtual = createVirtualClock();
  const delays: number[] = [];
  const namesWhenDelayed: string[] = [];
  const clock = {
    now: virtual.now,
    sleep: async (durationMs: number) => {
      delays.push(durationMs);
      // What has taken effect when the delay begins.
      namesWhenDelayed.push(await nameNow());
      await virtual.advance(durationMs);
    },
  };
  const parsed = rules.map(parseFault);
  const service = await openService({
    clock,
    random: createSeededRandom(),
    store: createMemoryStore(),
    initialState: builtInState(),
    taskDurationMs: 1_000,
    onFault: (error) => {
      throw error;
    },
    port: 0,
    controlToken: TOKEN,
    faults: { rules: by === "--fault" ? parsed : [] },
  });
  const { url, control } = service;
  const nameNow = async (): Promise<string> => {
    const { records } = await service.inspect();
    return records.list("lifecycle_policies").find(({ id }) => id === 1)?.name ?? "";
  };
  for (const rule of by === "--fault" ? [] : parsed) {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(rule) };
    const { ok } = await fetch(`${url}/_skyhook/faults`, init);
    if (!ok) throw new Error("the rule was refused");
  }
  /** Renames the policy, and reports what the client saw and what took effect. */
  const rename = async (name: string) => {
    const slept = delays.length;
    const seen = await exchange(`${url}${POLICY}`, "PATCH", JSON.stringify({ name }));
    const hasEffect = (await nameNow()) === name;
    return { seen, hasEffect, delayMs: delays[slept] ?? 0, name };
  };
  return {
    service,
    url,
    rename,
    namesWhenDelayed,
    list: control.faults.list,
    log: control.requests,
  };
};

type Renamed = Awaited<ReturnType<Awaited<ReturnType<typeof startFaulty>>["rename"]>>;

const isClean = ({ seen, hasEffect, delayMs, name }: Renamed): boolean =>
  seen.status === 200 &&
  seen.error === undefined &&
  hasEffect &&
  delayMs === 0 &&
  JSON.parse(seen.text).name === name;

const documented = (status: number, exceptionClass: string) => ({
  exception_class: exceptionClass,
  message: `injected by a fault rule: status ${status}`,
  request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
});

const HUNG_UP = "ECONNRESET socket hang up";

/** Each kind of fault with the effect that docs/faults.md promises. */
const KINDS: Readonly<Record<string, (struck: Renamed) => void>> = {
  "status,code=503": ({ seen, hasEffect }) => {
    expect([seen.status, hasEffect]).toEqual([503, false]);
    expect(JSON.parse(seen.text)).toEqual(documented(503, "InternalServerError"));
  },
  "status,code=504,body=html,when=after-effect": ({ seen, hasEffect }) => {
    expect([seen.status, hasEffect]).toEqual([504, true]);
    expect(seen.headers?.["content-type"]).toBe("text/html");
    expect(seen.text).toMatch(/^<html>.*504/);
  },
  "throttled,retry-after=7s": ({ seen, hasEffect }) => {
    expect([seen.status, seen.headers?.["retry-after"], hasEffect]).toEqual([429, "7", false]);
    expect(JSON.parse(seen.text)).toEqual(documented(429, "HTTPError"));
  },
  "lost-reply-before": ({ seen, hasEffect }) =>
    expect([seen, hasEffect]).toEqual([{ text: "", error: HUNG_UP }, false]),
  "lost-reply-after": ({ seen, hasEffect }) =>
    expect([seen, hasEffect]).toEqual([{ text: "", error: HUNG_UP }, true]),
  reset: ({ seen, hasEffect }) =>
    expect([seen, hasEffect]).toEqual([{ text: "", error: "ECONNRESET read ECONNRESET" }, false]),
  "reset,when=after-effect": ({ seen, hasEffect }) =>
    expect([seen, hasEffect]).toEqual([{ text: "", error: "ECONNRESET read ECONNRESET" }, true]),
  "slow,delay=2s..5s": ({ seen, hasEffect, delayMs }) => {
    expect([seen.status, hasEffect]).toEqual([200, true]);
    expect(delayMs).toBeGreaterThanOrEqual(2_000);
    expect(delayMs).toBeLessThanOrEqual(5_000);
  },
  truncated: ({ seen, hasEffect }) => {
    expect([seen.status, seen.error, hasEffect]).toEqual([200, "ECONNRESET aborted", true]);
    expect(() => JSON.parse(seen.text)).toThrow(SyntaxError);
    expect(seen.text.length).toBe(Math.floor(Number(seen.headers?.["content-length"]) / 2));
    expect(seen.text.length).toBeGreaterThan(100);
  },
  "unexpected-body": ({ seen, hasEffect }) => {
    expect([seen.status, seen.text, hasEffect]).toEqual([200, '{"ok":true}', true]);
  },
};

const ruleOf = (kind: string, often: string): string => {
  const [name, ...details] = kind.split(",");
  return [`update-policy=${name}${often}`, ...details].join(",");
};

const CASES = SWITCHES.flatMap((by) =>
  Object.entries(KINDS).map(([kind, check]) => ({ by, kind, check })),
);

describe.each(CASES)("$by: update-policy=$kind", ({ by, kind, check }) => {
  it("with a count strikes the next requests, and no later one", async () => {
    const { rename, service, list, log } = await startFaulty([ruleOf(kind, ":2x")], by);

    const renamed = [await rename("one-1"), await rename("two-2"), await rename("three-3")];
    await service.close();

    for (const struck of renamed.slice(0, 2)) check(struck);
    expect(renamed.map(isClean)).toEqual([false, false, true]);
    expect(list()).toMatchObject([{ struck: 2, left: 0 }]);
    const name = kind.split(",")[0];
    expect(log.list().map(({ operation, fault }) => [operation, fault])).toEqual([
      ["update-policy", undefined],
      ["update-policy", name],
      ["update-policy", name],
    ]);
  });

  it("with a probability strikes some requests, the same ones for the same seed", async () => {
    const struckOf = async () => {
      const { rename, service, list } = await startFaulty([ruleOf(kind, ":50%")], by);
      const struck: boolean[] = [];
      for (let sent = 0; sent < 12; sent += 1) {
        const renamed = await rename(`name-${sent}`);
        struck.push(!isClean(renamed));
        if (!isClean(renamed)) check(renamed);
      }
      await service.close();
      expect(list()[0]?.struck).toBe(struck.filter(Boolean).length);
      return struck;
    };

    const struck = await struckOf();

    expect(new Set(struck).size).toBe(2);
    expect(await struckOf()).toEqual(struck);
  });
});

test.each([
  ["before-effect", false],
  ["after-effect", true],
])("a slow request %s has taken effect when the delay begins: %s", async (when, isRenamed) => {
  const { rename, service, namesWhenDelayed } = await startFaulty([
    `update-policy=slow,delay=1s,when=${when}`,
  ]);

  await rename("renamed");
  await service.close();

  expect(namesWhenDelayed.map((name) => name === "renamed")).toEqual([isRenamed]);
});

describe("the request log", () => {
  it("has no status of a request that got no reply, and the id in an injected error", async () => {
    const { rename, service, log } = await startFaulty([
      "update-policy=lost-reply-after:1x",
      "update-policy=status:1x",
    ]);

    await rename("one-1");
    const { seen } = await rename("two-2");
    await service.close();

    const [injected, lost] = log.list();
    expect(lost).not.toHaveProperty("status");
    expect(injected).toMatchObject({ status: 500, requestId: JSON.parse(seen.text).request_id });
  });
});

describe("replies of the other families and without a body", () => {
  let url: string;
  let service: OpenService;
  beforeAll(async () => {
    ({ service, url } = await startFaulty([
      "update-storage-event=status:1x,code=418",
      "update-storage-event=truncated:1x",
      "update-storage-event=unexpected-body:1x",
      "list-ai-tasks=status:1x,code=401",
      "create-router=throttled:1x",
    ]));
  });
  afterAll(() => service.close());
  const body = JSON.stringify({
    name: "reaching_used_space",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
    bytes: 5,
  });

  it("have the documented error body of their family", async () => {
    const storage = await exchange(`${url}${EVENT}`, "PUT", body);
    const streaming = await exchange(`${url}/streaming/ai/tasks`, "GET");
    const cloud = await exchange(`${url}/cloud/v1/routers/1234567/76`, "POST", "{}");

    expect([storage.status, JSON.parse(storage.text)]).toEqual([
      418,
      { error: "injected by a fault rule: status 418" },
    ]);
    expect([streaming.status, streaming.headers?.["www-authenticate"]]).toEqual([401, "apikey"]);
    expect(JSON.parse(streaming.text)).toEqual({ error: "injected by a fault rule: status 401" });
    expect([cloud.headers?.["retry-after"], JSON.parse(cloud.text)]).toEqual([
      "1",
      documented(429, "HTTPError"),
    ]);
  });

  it("are lost when they cannot be truncated, and stay when they have no body to replace", async () => {
    const truncated = await exchange(`${url}${EVENT}`, "PUT", body);
    const replaced = await exchange(`${url}${EVENT}`, "PUT", body);

    expect(truncated).toEqual({ text: "", error: HUNG_UP });
    expect([replaced.status, replaced.text]).toEqual([204, ""]);
  });
});

describe("the global fetch of a client", () => {
  const failureOf = async (outcome: Promise<Response>): Promise<unknown> => {
    try {
      await (await outcome).text();
      return "no failure";
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return [error.message, error.cause && (error.cause as NodeJS.ErrnoException).code];
    }
  };

  it.each([
    ["lost-reply-before", ["fetch failed", "UND_ERR_SOCKET"]],
    ["lost-reply-after", ["fetch failed", "UND_ERR_SOCKET"]],
    ["reset", ["fetch failed", "ECONNRESET"]],
    ["truncated", ["terminated", "UND_ERR_SOCKET"]],
  ])("fails in the same way over HTTP and in process: %s", async (kind, failure) => {
    const { url, service } = await startFaulty([`update-policy=${kind}`]);
    const init = { method: "PATCH", headers: HEADERS, body: '{"name":"renamed"}' };

    const overHttp = await failureOf(fetch(`${url}${POLICY}`, init));
    const inProcess = await failureOf(service.fetch(new Request(`${url}${POLICY}`, init)));
    await service.close();

    expect([overHttp, inProcess]).toEqual([failure, failure]);
  });

  it("reads an unaffected reply on the connection after a faulted one", async () => {
    const { url, service } = await startFaulty(["*=truncated:1x", "*=reset:1x", "*=status:1x"]);
    const read = () => fetch(`${url}${POLICY}`, { headers: HEADERS });

    const failures = [await failureOf(read()), await failureOf(read())];
    const statuses = [(await read()).status, (await read()).status];
    await service.close();

    expect(failures).toEqual([
      ["terminated", "UND_ERR_SOCKET"],
      ["fetch failed", "ECONNRESET"],
    ]);
    expect(statuses).toEqual([500, 200]);
  });
});
