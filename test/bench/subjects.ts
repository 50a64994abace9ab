import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { serve } from "../../lib/service/serve.ts";
import { createService } from "../../lib/service/service.ts";
import { builtInState } from "../../lib/service/state/state.ts";
import { createMemoryStore } from "../../lib/service/store.ts";

/** The reply of E14 for the built-in network, which the bare app sends for every request. */
const CONSTANT = '{"key":"cost-center","read_only":false,"value":"platform"}';

/** The smallest HTTP app on the same server, to compare the service with. */
const serveBare = async (): Promise<string> => {
  const app = new Hono();
  app.all("*", (context) => context.body(CONSTANT, 200, { "content-type": "application/json" }));
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
};

const serveService = async (): Promise<string> => {
  const service = await createService({
    clock: createSystemClock(),
    random: createSystemRandom(),
    store: createMemoryStore(),
    initialState: builtInState(),
    taskDurationMs: 1500,
    onFault: (error) => {
      throw error;
    },
  });
  return (await serve(service, 0)).url;
};

/** A process that runs one of the two, by its argument, and reports its memory on request. */
process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ memory: process.memoryUsage() });
});
process.send?.({ url: await (process.argv[2] === "bare" ? serveBare() : serveService()) });
