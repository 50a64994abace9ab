import { createServer } from "node:http";
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { formatWireJson } from "../../lib/contract/json.ts";
import { endpointsOf } from "../../lib/contract/operation.ts";
import { OPERATIONS } from "../../lib/contract/operations.ts";
import REPLY_EXAMPLES from "../../lib/contract/reply-examples.json" with { type: "json" };
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { openService } from "../../lib/service/open-service.ts";
import { builtInState } from "../../lib/service/state/state.ts";
import { createMemoryStore } from "../../lib/service/store.ts";

/*
 * A process that runs one server, by its argument: the service as `skyhook service` starts it, or one to compare it
 * with. It reports its CPU time and memory on request.
 */

/** The reply of E14 for the built-in network, which the bare app sends for every request. */
const CONSTANT = '{"key":"cost-center","read_only":false,"value":"platform"}';
const JSON_TYPE = { "content-type": "application/json" };

const listen = async (app: Hono, overrideGlobalObjects: boolean): Promise<string> => {
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
};

/** The smallest HTTP app on the same server. */
const serveBare = (overrideGlobalObjects: boolean): Promise<string> => {
  const app = new Hono();
  app.all("*", (context) => context.body(CONSTANT, 200, JSON_TYPE));
  return listen(app, overrideGlobalObjects);
};

/** Routes every operation of the contract and answers the example of its reply, without any check. */
const serveStaticMock = (): Promise<string> => {
  const app = new Hono();
  const examples: Readonly<Record<string, unknown>> = REPLY_EXAMPLES;
  for (const operation of OPERATIONS) {
    const text = formatWireJson(examples[operation.id]);
    for (const { method, path } of endpointsOf(operation)) {
      app.on(method, path.replace(/\{(\w+)\}/g, ":$1"), (context) =>
        operation.successStatus === 204
          ? context.body(null, 204)
          : context.body(text, 200, JSON_TYPE),
      );
    }
  }
  return listen(app, true);
};

/** The command line of Prism, in this process. @param prism folder of its package */
const servePrism = async (prism: string, document: string, port: string): Promise<string> => {
  process.argv = [process.argv[0] ?? "", "prism", "mock", document, "-p", port, "-v", "silent"];
  createRequire(import.meta.url)(prism);
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const reply = await fetch(url).catch(() => undefined);
    if (reply !== undefined) return url;
    await setTimeout(100);
  }
};

const serveService = async (): Promise<string> => {
  const service = await openService({
    clock: createSystemClock(),
    random: createSystemRandom(),
    store: createMemoryStore(),
    initialState: builtInState(),
    taskDurationMs: 1500,
    port: 0,
    ownProcess: true,
    onFault: (error) => {
      throw error;
    },
  });
  return service.url;
};

const start = (kind: string | undefined, args: readonly string[]): Promise<string> => {
  switch (kind) {
    case "bare":
      return serveBare(false);
    case "bare-override":
      return serveBare(true);
    case "static-mock":
      return serveStaticMock();
    case "prism": {
      const [prism = "", document = "", port = ""] = args;
      return servePrism(prism, document, port);
    }
    default:
      return serveService();
  }
};

process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ cpu: process.cpuUsage(), memory: process.memoryUsage() });
});
// A server would outlive a benchmark that is interrupted.
process.on("disconnect", () => process.exit());
const [, , kind, ...args] = process.argv;
process.send?.({ url: await start(kind, args) });
