/**
 * Installs and runs programs that exist only as Python packages, in a virtual environment of the repository.
 * No shipped code and no test of `npm test` needs one.
 *
 * Usage: `node infra/python-tools.mjs PROGRAM ARGUMENT…`
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PYTHON = join(ROOT, "infra", "python");
const REQUIREMENTS = join(PYTHON, "requirements.txt");

/** Environments that hold one program alone. `python` is the interpreter with the provider's official SDK. */
const ALONE = new Map([
  ["checkov", "checkov"],
  ["python", "gcore"],
]);

/** Paths of a program's virtual environment. The lock prevents two installations at the same time. */
const pathsOf = (name) => {
  const alone = ALONE.get(name);
  const environment = join(ROOT, alone ? `.venv-${alone}` : ".venv");
  return {
    environment,
    requirements: alone ? join(PYTHON, `${alone}.txt`) : REQUIREMENTS,
    stamp: join(environment, "installed.sha256"),
    programs: join(environment, process.platform === "win32" ? "Scripts" : "bin"),
    lockFolder: `${environment}.lock`,
  };
};
const POLL_MS = 500;

const INSTALL_LIMIT_MS = 5 * 60_000;
/** Fails for a Python older than MiniStack needs, and for one without `venv`. */
const FITS = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/** Versions of the required packages, by name. */
export const PINNED = Object.fromEntries(
  readFileSync(REQUIREMENTS, "utf8")
    .split("\n")
    .filter((line) => line.includes("=="))
    .map((line) => line.replace(/\[.*\]/, "").split("==")),
);

/** Name of a suitable Python, or undefined. */
export const findPython = () =>
  ["python3", "python"].find((name) => spawnSync(name, ["-c", FITS]).status === 0);

const run = (environment, command, ...args) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: INSTALL_LIMIT_MS,
  });
  if (status === 0) return;
  // The next run would use an incomplete environment.
  rmSync(environment, { recursive: true, force: true });
  throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `${stdout}${stderr}`}`);
};

const isInstalled = ({ stamp, programs }, name, wanted) =>
  existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(join(programs, name));

const sleep = (durationMs) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
};

/** @throws Error if another run holds the lock for longer than an installation may take */
const lock = (lockFolder) => {
  for (let waitedMs = 0; waitedMs < INSTALL_LIMIT_MS; waitedMs += POLL_MS) {
    try {
      mkdirSync(lockFolder);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      sleep(POLL_MS);
    }
  }
  throw new Error(
    `${lockFolder}: another run holds this lock; if none is running, remove the folder`,
  );
};

const install = ({ environment, requirements, stamp, programs }, wanted) => {
  const python = findPython();
  if (python === undefined)
    throw new Error("no Python 3.10 or newer with venv and pip found; install one");
  rmSync(environment, { recursive: true, force: true });
  run(environment, python, "-m", "venv", environment);
  run(environment, join(programs, "pip"), "install", "--quiet", "--requirement", requirements);
  writeFileSync(stamp, wanted);
};

/**
 * The path of a program. Installs it if it is missing or has another version.
 * @throws Error if there is no suitable Python, or the installation fails
 */
export const pythonProgram = (name) => {
  const place = pathsOf(name);
  const wanted = createHash("sha256").update(readFileSync(place.requirements)).digest("hex");
  if (!isInstalled(place, name, wanted)) {
    lock(place.lockFolder);
    try {
      if (!isInstalled(place, name, wanted)) install(place, wanted);
    } finally {
      rmSync(place.lockFolder, { recursive: true });
    }
  }
  return join(place.programs, name);
};

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined) throw new Error("usage: node infra/python-tools.mjs PROGRAM ARGUMENT…");
  try {
    const { status, error } = spawnSync(pythonProgram(name), args, { stdio: "inherit" });
    if (error) throw error;
    process.exitCode = status ?? 1;
  } catch (error) {
    process.stderr.write(`cannot run ${name}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
