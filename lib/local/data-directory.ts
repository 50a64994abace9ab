import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "../ports/random.ts";

/** Where a local run keeps what outlives it. */
export interface DataDirectory {
  readonly service: string;
  readonly ledger: string;
  readonly messages: string;
  /** Key of the fingerprints; it must stay the same for as long as the ledger. */
  readonly fingerprintKey: string;
}

const readKey = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
};

/** Makes the folder when it is missing. @throws Error when it cannot be written to */
export const openDataDirectory = async (
  directory: string,
  random: Random,
): Promise<DataDirectory> => {
  // Requests wait here with whatever secrets they carry: for the owner's eyes only.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keyFile = join(directory, "fingerprint-key");
  const known = await readKey(keyFile);
  const fingerprintKey = known ?? random.uuid() + random.uuid();
  if (known === undefined) {
    // Written beside and renamed: a kill leaves the whole key or none.
    await writeFile(`${keyFile}.new`, fingerprintKey, { mode: 0o600 });
    await rename(`${keyFile}.new`, keyFile);
  }
  return {
    service: join(directory, "service"),
    ledger: join(directory, "ledger"),
    messages: join(directory, "messages"),
    fingerprintKey,
  };
};
