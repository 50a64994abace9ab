import { createHash } from "node:crypto";
import { type Zippable, zipSync } from "fflate";

/** The zip of a function. */
export interface FunctionZip {
  readonly functionName: string;
  /** S3 key. It has a hash of the content, so that an unchanged function is not deployed again. */
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** The earliest time of a zip file, in the local time that fflate writes. */
const NO_TIME = new Date(1980, 0, 1);
/** A Unix file that Lambda's user may read. */
const UNIX = 3;
const READABLE = 0o100644 << 16;

/**
 * Zips files. The same files give the same bytes on every machine: no time of a file, and a compression that does not
 * depend on the version of Node.
 */
const zipFiles = (files: ReadonlyMap<string, Uint8Array>): Uint8Array => {
  const sorted = [...files].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const options = { mtime: NO_TIME, os: UNIX, attrs: READABLE, level: 9 } as const;
  return zipSync(
    Object.fromEntries(
      sorted.map(([name, bytes]): [string, Zippable[string]] => [name, [bytes, options]]),
    ),
  );
};

/** @param folder start of the key */
export const functionZip = (
  functionName: string,
  files: ReadonlyMap<string, Uint8Array>,
  folder: string,
): FunctionZip => {
  const bytes = zipFiles(files);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { functionName, key: `${folder}/${functionName}-${hash}.zip`, bytes };
};
