/**
 * Import directions between folders: functions → skyhook.ts → intake, engine, jobs → provider → ledger →
 * events, contract, ports; and cli → console → admin → intake, engine, jobs. Adapters (`platform/aws`, `local`) are
 * named only by composition. Nothing imports `exports`, the entries of the npm package. The service knows the
 * contract, the ports and itself.
 */
const only = (from, allowed) => ({
  name: `${from.replace(/^lib\//, "")}-imports`,
  severity: "error",
  comment: `${from} may import only ${allowed.join(", ")}`,
  from: { path: `^${from}/` },
  to: {
    path: "^(lib|functions|infra|test)/",
    pathNot: [`^${from}/`, ...allowed.map((path) => `^${path}(/|$)`)],
  },
});

const BASE = ["lib/contract", "lib/platform/ports"];
/** Finds files of the package; imports nothing. */
const PACKAGE_FOLDER = "lib/platform/package-folder.ts";
const RECORDS = [...BASE, "lib/events", "lib/ledger"];
const FEATURES = [...RECORDS, "lib/provider"];
const JOBS = [...FEATURES, "lib/config"];

export default {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    only("lib/contract", []),
    only("lib/platform/ports", []),
    only("lib/platform", BASE),
    only("lib/events", BASE),
    only("lib/ledger", [...BASE, "lib/events"]),
    only("lib/config", BASE),
    only("lib/provider", [...RECORDS, "lib/config"]),
    only("lib/service", [...BASE, PACKAGE_FOLDER]),
    only("lib/engine", FEATURES),
    only("lib/jobs/thresholds", JOBS),
    only("lib/jobs/prices", JOBS),
    only("lib/jobs/ai-tasks", JOBS),
    only("lib/intake/event-patterns", BASE),
    only("lib/intake", [...JOBS, "lib/engine"]),
    only("lib/admin", [...FEATURES, "lib/engine", "lib/intake", "lib/jobs"]),
    only("lib/console", [
      ...BASE,
      PACKAGE_FOLDER,
      "lib/admin",
      "lib/service/reach.ts",
      "lib/service/serve.ts",
    ]),
    only("lib/cost", ["lib/engine/poller/open-tasks.ts"]),
    only("infra", ["lib/platform/deployment.json"]),
    {
      name: "poller-is-the-engine's-entry",
      severity: "error",
      comment: "lib/engine must not depend on the poller, which calls it",
      from: { path: "^lib/engine/(?!poller/)" },
      to: { path: "^lib/engine/poller/" },
    },
    {
      name: "exports-are-entries",
      severity: "error",
      comment: "lib/exports is for users of the package; all other code imports what it curates",
      from: { path: "^lib/(?!exports/)" },
      to: { path: "^lib/exports/" },
    },
    {
      name: "functions-are-entries",
      severity: "error",
      comment: "AWS loads the handlers in functions/; all other code composes lib/skyhook.ts",
      from: { path: "^lib/" },
      to: { path: "^functions/" },
    },
    {
      name: "composition-only",
      severity: "error",
      comment:
        "only compositions import adapters: functions/compose.ts, lib/local, lib/cli and lib/exports",
      from: {
        path: "^(lib|functions)/",
        pathNot: ["^functions/compose\\.ts$", "^lib/(local|platform/aws|cli|exports)/"],
      },
      to: { path: "^lib/(platform/aws|local)/" },
    },
    {
      name: "clock-and-chance-are-ports",
      severity: "error",
      comment: "use the clock and random ports in lib/platform/ports instead",
      from: {
        path: "^lib/(admin|config|console|contract|engine|events|intake|jobs|ledger|provider|service)/",
      },
      to: { path: "^(node:)?timers" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // The parser cannot read TSX. The page's build for browsers fails if it imports code for Node.
    exclude: { path: "^lib/console/page/" },
    parser: "swc",
    enhancedResolveOptions: { extensions: [".ts", ".mjs", ".js"] },
  },
};
