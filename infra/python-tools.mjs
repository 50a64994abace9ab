/**
 * Programs that exist as Python packages only, in a virtual environment of this folder. Nothing that
 * ships and no test of `npm test` needs one.
 *
 * `node infra/python-tools.mjs PROGRAM ARGUMENT…` runs one.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PYTHON = join(ROOT, "infra", "python");
const REQUIREMENTS = join(PYTHON, "requirements.txt");

/** The virtual environment of a program; the lock is for two that install at once. */
const placeOf = (name) => {
  const isAlone = name === "checkov";
  const environment = join(ROOT, isAlone ? ".venv-checkov" : ".venv");
  return {
    environment,
    requirements: isAlone ? join(PYTHON, "checkov.txt") : REQUIREMENTS,
    stamp: join(environment, "installed.sha256"),
    programs: join(environment, process.platform === "win32" ? "Scripts" : "bin"),
    lockFolder: `${environment}.lock`,
  };
};
const LOOK_MS = 500;

const INSTALL_LIMIT_MS = 5 * 60_000;
/** MiniStack's floor. Fails also for a Python that came without `venv`. */
const FITS = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/** The requirements' versions, by package. */
export const PINNED = Object.fromEntries(
  readFileSync(REQUIREMENTS, "utf8")
    .split("\n")
    .filter((line) => line.includes("=="))
    .map((line) => line.replace(/\[.*\]/, "").split("==")),
);

/** The name of a Python that fits, or undefined where there is none. */
export const findPython = () =>
  ["python3", "python"].find((name) => spawnSync(name, ["-c", FITS]).status === 0);

const run = (environment, command, ...args) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: INSTALL_LIMIT_MS,
  });
  if (status === 0) return;
  // A half-made environment would be taken for a whole one.
  rmSync(environment, { recursive: true, force: true });
  throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `${stdout}${stderr}`}`);
};

const isInstalled = ({ stamp, programs }, name, wanted) =>
  existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(join(programs, name));

const sleep = (durationMs) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
};

/** @throws Error when another run holds it for longer than an installation may take */
const lock = (lockFolder) => {
  for (let waitedMs = 0; waitedMs < INSTALL_LIMIT_MS; waitedMs += LOOK_MS) {
    try {
      mkdirSync(lockFolder);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      sleep(LOOK_MS);
    }
  }
  throw new Error(`another run seems to install; if none does, remove ${lockFolder}`);
};

const install = ({ environment, requirements, stamp, programs }, wanted) => {
  const python = findPython();
  if (python === undefined) throw new Error("there is no Python 3.10 or newer with venv and pip");
  rmSync(environment, { recursive: true, force: true });
  run(environment, python, "-m", "venv", environment);
  run(environment, join(programs, "pip"), "install", "--quiet", "--requirement", requirements);
  writeFileSync(stamp, wanted);
};

/**
 * The path of a program of the requirements, installed first where it is not.
 * @throws Error when there is no Python, or the packages cannot be installed
 */
export const pythonProgram = (name) => {
  const place = placeOf(name);
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
    process.stderr.write(`${name} cannot be run: ${error.message}\n`);
    process.exitCode = 1;
  }
}
