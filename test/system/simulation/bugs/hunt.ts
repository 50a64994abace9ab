import { fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openMutatedBuilds } from "./mutated.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";
import type { Found, Search } from "./seek.ts";

/*
 * Plants each bug of the registry in turn and runs fresh seeds until one finds it. Prints a table. `--bug TEXT` keeps
 * the bugs with that text in their names, and may be repeated. `--note` writes a seed for each bug into seeds.json as
 * soon as it is known: the noted one if it still finds the bug, else the first of seeds 1 to N. So a hunt that was ended
 * early goes on where it was. `--noted` runs the noted seeds only. Exits with status 1 when a bug was not found.
 */

const WORKER = fileURLToPath(new URL("./seeker.mjs", import.meta.url));
const SEEDS = "test/system/simulation/bugs/seeds.json";
/** Upper bound of a random first seed. */
const MAX_SEED = 2 ** 31;
/** A mutation may cause an endless loop. */
const LIMIT_MS = 15 * 60_000;

const refuse = (problem: string): never => {
  process.stderr.write(
    `${problem}\nusage: npm run test:bugs -- [--bug TEXT]... [--seeds N] [--from N] [--note | --noted]\n`,
  );
  process.exit(2);
};

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        bug: { type: "string", multiple: true, default: [""] },
        seeds: { type: "string", default: "1000" },
        from: { type: "string", default: String(randomInt(MAX_SEED)) },
        note: { type: "boolean", default: false },
        noted: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
};

const values = readOptions();
for (const option of ["seeds", "from"] as const) {
  const text = values[option];
  if (!/^\d{1,15}$/.test(text)) refuse(`--${option} must be a whole number from 0, not "${text}"`);
}
const noted: Record<string, number | null> = JSON.parse(readFileSync(SEEDS, "utf8"));
const first = values.note ? 1 : Number(values.from);
const count = values.noted ? 0 : Number(values.seeds);
const fresh = Array.from({ length: count }, (_, index) => first + index);
const bugs = MUTATIONS.filter(({ name }) => values.bug.some((text) => name.includes(text)));
if (bugs.length === 0) refuse(`no planted bug has "${values.bug.join('" or "')}" in its name`);
const left = [...bugs];
const results = new Map<Mutation, Found | null>();
const builds = await openMutatedBuilds();

const search = (worker: ReturnType<typeof fork>, job: Search): Promise<Found | null> =>
  new Promise((resolve) => {
    const limit = setTimeout(() => worker.kill("SIGKILL"), LIMIT_MS);
    const exit = (): void => {
      clearTimeout(limit);
      resolve(null);
    };
    worker.once("exit", exit);
    worker.once("message", (found: Found | null) => {
      clearTimeout(limit);
      worker.off("exit", exit);
      resolve(found);
    });
    worker.send(job);
  });

const print = ({ name }: Mutation, found: Found | null): void => {
  const cells = found
    ? [found.needed, found.seed, `invariant ${found.invariant}`, name, found.text.slice(0, 160)]
    : ["-", "not found", "", name];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
};

const note = ({ name }: Mutation, found: Found | null): void => {
  noted[name] = found?.seed ?? null;
  const all = MUTATIONS.map((bug) => [bug.name, noted[bug.name] ?? null]);
  writeFileSync(SEEDS, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
};

/** Hunts one bug after another in a process of its own, because an endless loop ends only with its process. */
const hunt = async (): Promise<void> => {
  for (let bug = left.shift(); bug; bug = left.shift()) {
    const { name, invariant } = bug;
    const simulation = await builds.build(bug);
    const worker = fork(WORKER);
    const known = values.note || values.noted ? (noted[name] ?? undefined) : undefined;
    const seeds = [...(known === undefined ? [] : [known]), ...fresh];
    const found = await search(worker, { simulation, invariant, seeds });
    worker.kill();
    results.set(bug, found);
    print(bug, found);
    if (values.note) note(bug, found);
  }
};

process.stdout.write(values.noted ? "noted seeds\n" : `seeds ${first} to ${first + count - 1}\n`);
await Promise.all(Array.from({ length: availableParallelism() }, hunt));
await builds.close();
const found = [...results.values()].flatMap((each) => each?.needed ?? []);
const within = (count: number): number => found.filter((needed) => needed <= count).length;
process.stdout.write(
  values.noted
    ? `${bugs.length} bugs: ${found.length} found by their noted seeds\n`
    : `${bugs.length} bugs: ${within(400)} found within 400 seeds, ${found.length} within ${count}\n`,
);
process.exitCode = found.length < bugs.length ? 1 : 0;
