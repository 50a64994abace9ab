import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The recognisable core of each secret; random, so that compression does not hide it. */
const CORES = {
  mainKey: "q7Zk2VxT9mWc4LrB8s",
  parameterKey: "h3NpY6dJf1GuQ5eXo0",
  refusedKey: "b9RtS2vKz8MaD4wHy6",
  fixedEnv: "C5gLn7PxE1jUi3OqF0k",
  otherEnv: "y2WsB8rVd6TmZ4hJa9c",
  shortLived: "X1fQu5KoG7eNp3LiR0v",
  pullSecret: "t8MzD2bHw6YcS4xJk1g",
  misplaced: "E3nVq9PaL5rUf7TiO0d",
} as const;

export type CanaryName = keyof typeof CORES;

/** The secrets. Values of variables contain characters that JSON, URLs and shells escape. */
export const CANARIES: Readonly<Record<CanaryName, string>> = {
  mainKey: `1234$${CORES.mainKey}`,
  parameterKey: `99_${CORES.parameterKey}+/=`,
  refusedKey: `7$${CORES.refusedKey}`,
  fixedEnv: `p"s\\s ${CORES.fixedEnv}&?é`,
  otherEnv: `{"user":"${CORES.otherEnv}"}`,
  shortLived: `${CORES.shortLived}\n`,
  pullSecret: `registry-${CORES.pullSecret}`,
  misplaced: `wrong ${CORES.misplaced}`,
};

/** Base64 of a text at each offset, without the ends that depend on neighbouring bytes. */
const base64Forms = (core: string): readonly string[] =>
  [0, 1, 2].map((offset) =>
    Buffer.from(" ".repeat(offset) + core)
      .toString("base64")
      .slice(offset === 0 ? 0 : 4, -4),
  );

const formsOf = (core: string): readonly string[] => [
  core,
  [...core].reverse().join(""),
  Buffer.from(core).toString("hex"),
  ...base64Forms(core),
];

/** The secrets that the bytes contain in any form: plain, upper case, reversed, hex or base64. */
export const canariesIn = (bytes: Buffer | string): readonly CanaryName[] => {
  const text = bytes.toString("latin1").toLowerCase();
  return (Object.keys(CORES) as CanaryName[]).filter((name) =>
    formsOf(CORES[name]).some((form) => text.includes(form.toLowerCase())),
  );
};

const filesBelow = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
};

/** Every file below a folder with a secret: `path: names`. */
export const canariesBelow = async (folder: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const path of await filesBelow(folder)) {
    const names = canariesIn(await readFile(path));
    if (names.length > 0) found.push(`${path.slice(folder.length)}: ${names.join(", ")}`);
  }
  return found;
};

/** Every file below a folder with a text. */
export const filesWith = async (folder: string, text: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const path of await filesBelow(folder)) {
    if ((await readFile(path)).includes(text)) found.push(path);
  }
  return found;
};
