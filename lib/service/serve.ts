import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Service } from "./service.ts";

export type HttpApp = Pick<Service, "fetch" | "refuseHost" | "refuseUnreadable">;

const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Checks that the `Host` header is a loopback or an allowed name. Otherwise a web page could resolve its own
 * name to 127.0.0.1 and read the service as its own origin (DNS rebinding). A request target such as
 * `http://name/path` names a host too, which would be the origin of the request.
 */
const createHostCheck = (hosts: readonly string[]) => {
  const known = new Set(hosts);
  return (request: Request): boolean =>
    known.has((request.headers.get("host") ?? "").toLowerCase().replace(/:\d*$/, "")) &&
    known.has(new URL(request.url).hostname);
};

export interface ServedService {
  /** Base URL with the actual port, without a trailing slash. */
  readonly url: string;
  /** Stops listening and drops open connections. */
  close(): Promise<void>;
}

/**
 * Serves the interface on 127.0.0.1.
 * @param port 0 for any free port
 * @param allowedHosts host names that the `Host` header may contain besides the loopback names
 * @throws when the port is in use
 */
export const serve = async (
  app: HttpApp,
  port: number,
  allowedHosts: readonly string[] = [],
): Promise<ServedService> => {
  const hosts = [...LOOPBACK_HOSTS, ...allowedHosts.map((host) => host.toLowerCase())];
  const isAllowed = createHostCheck(hosts);
  const listener = getRequestListener(
    (request) => (isAllowed(request) ? app.fetch(request) : app.refuseHost(request, hosts)),
    { overrideGlobalObjects: false, errorHandler: app.refuseUnreadable },
  );
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
