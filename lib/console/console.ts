import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageFolder } from "../platform/package-folder.ts";
import type { Reach } from "../service/reach.ts";
import { type HttpApp, type ServedService, serve } from "../service/serve.ts";
import { type ConsoleOptions, createConsoleApp } from "./app.ts";
import { pageAddress } from "./auth.ts";

const DEFAULT_PORT = 4747;
/** Ports to try; if all are taken, any free port is used. */
const DEFAULT_PORTS = 100;

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

/** Serves at the first free default port. */
const serveAtDefault = async (app: HttpApp, reach: Reach): Promise<ServedService> => {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + DEFAULT_PORTS; port++) {
    try {
      return await serve(app, port, reach);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  return serve(app, 0, reach);
};

const readAsset = async (name: string): Promise<string | undefined> => {
  try {
    return await readFile(join(packageFolder(), "dist", "console", name), "utf8");
  } catch {
    return undefined;
  }
};

export interface ServedConsole extends ServedService {
  /** Address of the page with its token, for the operator's browser. */
  readonly pageUrl: string;
  readonly token: string;
}

/**
 * Serves the console and its JSON interface on 127.0.0.1 unless `reach` has another address.
 * @param port 0 for any free port; absent: 4747, or the next free port
 * @throws Error when the given port is taken
 */
export const openConsole = async (
  options: Omit<ConsoleOptions, "readAsset">,
  port?: number,
  reach: Reach = {},
): Promise<ServedConsole> => {
  const routes = createConsoleApp({ ...options, readAsset });
  const app: HttpApp = {
    fetch: async (request) => routes.fetch(request),
    refuseHost: () =>
      Response.json(
        { error: "the Host header must be a local address, or a name of --allow-host" },
        { status: 403 },
      ),
    refuseUnreadable: () =>
      Response.json({ error: "not a readable HTTP request" }, { status: 400 }),
  };
  const served =
    port === undefined ? await serveAtDefault(app, reach) : await serve(app, port, reach);
  const { token } = options;
  return { ...served, token, pageUrl: pageAddress(served.url, token) };
};
