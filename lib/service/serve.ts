import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Service } from "./service.ts";

/** What is served: answers to requests, and one to what is none. */
type HttpApp = Pick<Service, "fetch" | "refuseUnreadable">;

export interface ServedService {
  /** Base URL with the port in use, without a slash at the end. */
  readonly url: string;
  /** Stops listening and drops open connections. */
  close(): Promise<void>;
}

/**
 * Serves the interface on this machine only: its keys are no secret worth a network.
 * @param port 0 takes any free one
 * @throws when the port is taken
 */
export const serve = async (app: HttpApp, port: number): Promise<ServedService> => {
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: app.refuseUnreadable,
  });
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const actualPort = typeof address === "object" ? address?.port : port;
  return {
    url: `http://127.0.0.1:${actualPort}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
};
