/** Fails when the bundle of a function is larger than it may be. Writes no file. */
import { build } from "esbuild";
import { overBudget } from "./bundle-sizes.mjs";
import { FUNCTIONS } from "./bundling.mjs";

/** Bytes, minified, without the source map. Whoever raises one says why. */
const BUDGETS = {
  intake: 480_000,
  "run-commands": 500_000,
  "poll-tasks": 500_000,
  "watch-ai-tasks": 460_000,
  // They read a config: S3's client is 95 kB of them, the parser of YAML 98.
  "sync-thresholds": 650_000,
  "snapshot-prices": 650_000,
};

const { metafile } = await build({ ...FUNCTIONS, outdir: "dist/functions", write: false });
const complaints = overBudget(metafile, BUDGETS);
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
if (complaints.length > 0) process.exitCode = 1;
