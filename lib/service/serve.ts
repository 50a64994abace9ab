import { createServer } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { CutReply, LostConnection } from "./fault-replies.ts";
import { LOOPBACK, type Reach, urlHost } from "./reach.ts";
import type { Service } from "./service.ts";

export interface HttpApp extends Pick<Service, "refuseHost" | "refuseUnreadable"> {
  readonly fetch: Service["answer"];
}

interface ServeOptions extends Reach {
  /**
   * Replaces the global `Request` and `Response` by faster classes of the HTTP adapter, which halves the CPU time of a
   * small request. For a process that runs nothing else: these globals are those of all its code.
   */
  readonly ownProcess?: boolean | undefined;
}

const LOOPBACK_HOSTS = [LOOPBACK, "localhost", "[::1]"];

/**
 * Checks that the `Host` header is a loopback or an allowed name. Otherwise a web page could resolve its own
 * name to 127.0.0.1 and read the service as its own origin (DNS rebinding). A request target such as
 * `http://name/path` names a host too, which would be the origin of the request.
 */
const createHostCheck = (hosts: readonly string[]) => {
  const known = new Set(hosts);
  /** The header of the last request with a known name: clients repeat it. */
  let last: string | undefined;
  return ({ headers, url }: Request): boolean => {
    const host = headers.get("host") ?? "";
    if (host !== last) {
      if (!known.has(host.toLowerCase().replace(/:\d*$/, ""))) return false;
      last = host;
    }
    // A URL that begins with the known name needs no parser.
    return url.startsWith(`http://${host}/`) || known.has(new URL(url).hostname);
  };
};

/** Destroys the connection of a request whose reply a fault loses. Rethrows every other error. */
const endConnection = (error: unknown, { incoming }: HttpBindings): Response => {
  if (!(error instanceof LostConnection)) throw error;
  if (error.isReset) incoming.socket.resetAndDestroy();
  else incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
};

/** Sends the part of a cut reply, and destroys the connection when the part has left. */
const sendCut = (reply: Response, { outgoing }: HttpBindings): Response => {
  if (!(reply instanceof CutReply)) return reply;
  outgoing.writeHead(reply.status, Object.fromEntries(reply.headers));
  outgoing.write(reply.part, () => outgoing.destroy());
  return RESPONSE_ALREADY_SENT;
};

export interface ServedService {
  /** Base URL with the actual port, without a trailing slash. */
  readonly url: string;
  /** Stops listening and drops open connections. */
  close(): Promise<void>;
}

/**
 * Serves the interface, on 127.0.0.1 unless `reach` has another address.
 * @param port 0 for any free port
 * @throws when the port is in use, or the address is not one of this machine
 */
export const serve = async (
  app: HttpApp,
  port: number,
  { address = LOOPBACK, allowedHosts = [], ownProcess = false }: ServeOptions = {},
): Promise<ServedService> => {
  const host = urlHost(address);
  const hosts = [
    ...new Set([...LOOPBACK_HOSTS, host, ...allowedHosts.map((name) => name.toLowerCase())]),
  ];
  const isAllowed = createHostCheck(hosts);
  const listener = getRequestListener(
    (request, bindings) => {
      if (!isAllowed(request)) return app.refuseHost(request, hosts);
      const http = bindings as HttpBindings;
      const reply = app.fetch(request);
      // Faults answer by promises only.
      if (!(reply instanceof Promise)) return reply;
      return reply.then(
        (settled) => sendCut(settled, http),
        (error) => endConnection(error, http),
      );
    },
    { overrideGlobalObjects: ownProcess, errorHandler: app.refuseUnreadable },
  );
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  const bound = server.address();
  const actualPort = typeof bound === "object" ? bound?.port : port;
  return {
    url: `http://${host}:${actualPort}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
};
