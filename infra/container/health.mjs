/**
 * Health check of the image: succeeds if the server of process 1 answers. `skyhook start` is asked at its console,
 * `skyhook service` at the service.
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";

const TIMEOUT_MS = 4_000;
/** Ports of infra/container/entrypoint.sh. */
const PORTS = { start: 4747, service: 8080 };

/** The port of a command line; the last `--port` wins, as in `skyhook`. Undefined for a verb without a server. */
const portOf = (args) => {
  const given = args.flatMap((arg, at) => {
    if (arg === "--port") return args[at + 1] ?? [];
    return arg.startsWith("--port=") ? arg.slice("--port=".length) : [];
  });
  const verb = args.find((arg) => arg in PORTS);
  return given.at(-1) ?? PORTS[verb];
};

/**
 * Resolves when a server at the port answers. A foreign Host is refused before everything else, so the check is in no
 * request log, and no rate limit or fault applies to it.
 */
const answer = (port) =>
  new Promise((resolve, reject) => {
    const headers = { host: "health.invalid" };
    request({ host: "127.0.0.1", port, headers, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      response.once("end", resolve);
    })
      .once("timeout", () => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)))
      .once("error", reject)
      .end();
  });

const args = readFileSync(process.argv[2] ?? "/proc/1/cmdline", "utf8").split("\0");
const port = portOf(args);
try {
  if (port !== undefined) await answer(port);
  process.exit(0);
} catch (error) {
  process.stderr.write(`port ${port}: ${error.message}\n`);
  process.exit(1);
}
