/**
 * Import directions between rooms: functions → features → contract, client, events, ports.
 * `aws` and `local` implement ports and are named only by composition; the service knows the
 * contract, the ports and itself.
 */
const only = (from, allowed) => ({
  name: `${from.replace(/^lib\//, "")}-imports`,
  severity: "error",
  comment: `${from} may import only ${allowed.join(", ")}`,
  from: { path: `^${from}/` },
  to: {
    path: "^(lib|functions|infra|test)/",
    pathNot: [`^${from}/`, ...allowed.map((room) => `^${room}/`)],
  },
});

const BASE = ["lib/contract", "lib/ports"];
const FEATURE_BASE = [...BASE, "lib/accounts", "lib/client", "lib/events", "lib/ledger"];
const STANDING_JOB_BASE = [...FEATURE_BASE, "lib/config"];

export default {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    only("lib/contract", []),
    only("lib/ports", []),
    only("lib/client", BASE),
    only("lib/event-patterns", BASE),
    only("lib/events", BASE),
    only("lib/ledger", [...BASE, "lib/events"]),
    only("lib/config", BASE),
    only("lib/accounts", [...BASE, "lib/client", "lib/config", "lib/events", "lib/ledger"]),
    only("lib/service", BASE),
    only("lib/commands", FEATURE_BASE),
    only("lib/thresholds", STANDING_JOB_BASE),
    only("lib/prices", STANDING_JOB_BASE),
    only("lib/ai-tasks", STANDING_JOB_BASE),
    only("lib/reactions", [...STANDING_JOB_BASE, "lib/commands", "lib/event-patterns"]),
    only("lib/intake", [...FEATURE_BASE, "lib/commands", "lib/reactions"]),
    only("lib/tasks", [...FEATURE_BASE, "lib/commands"]),
    only("lib/recovery", [...FEATURE_BASE, "lib/commands", "lib/intake"]),
    only("lib/aws", ["lib/ports"]),
    only("lib/system", ["lib/ports"]),
    only("lib/lambda", BASE),
    only("infra", []),
    {
      name: "nobody-imports-functions",
      severity: "error",
      comment: "only the local triggers run the handlers; features never know them",
      from: { path: "^lib/", pathNot: "^lib/local/" },
      to: { path: "^functions/" },
    },
    {
      name: "composition-only",
      severity: "error",
      comment: "adapters are chosen by composition: functions' deps, lib/local and the CLI",
      from: {
        path: "^(lib|functions)/",
        pathNot: ["^functions/.*deps\\.ts$", "^lib/(local|aws|cli)/"],
      },
      to: { path: "^lib/(aws|local)/" },
    },
    {
      name: "clock-and-chance-are-ports",
      severity: "error",
      comment: "timers and random bytes come through lib/ports",
      from: {
        path: "^lib/(accounts|ai-tasks|client|commands|config|contract|event-patterns|events|intake|ledger|prices|reactions|recovery|service|tasks|thresholds)/",
      },
      to: { path: "^(node:)?timers" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    parser: "swc",
    enhancedResolveOptions: { extensions: [".ts", ".mjs", ".js"] },
  },
};
