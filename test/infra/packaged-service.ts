import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";

const run = promisify(execFile);

const resourceSchema = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()),
});
const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema),
  Outputs: z.record(z.string(), z.looseObject({ Value: z.unknown() })),
});

export type Resource = z.output<typeof resourceSchema>;

export interface PackagedService {
  readonly directory: string;
  /** The resources of the packaged template by logical id. */
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: z.output<typeof templateSchema>["Outputs"];
  /** Names of the files in a function's package. */
  filesOf(functionName: string): Promise<readonly string[]>;
  remove(): Promise<void>;
}

/** The names in a zip file's central directory. */
const namesInZip = (zip: Buffer): readonly string[] => {
  const end = zip.lastIndexOf("PK\u0005\u0006");
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      zip.readUInt16LE(at + field),
    ) as [number, number, number]; // three fields in, three lengths out
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    at += 46 + nameLength + extraLength + commentLength;
    return name;
  });
};

/**
 * What `npm run package` does, in a directory of its own so that runs do not meet: builds the
 * functions and packages them, with nothing of AWS in the environment.
 */
export const packageService = async (): Promise<PackagedService> => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-package-"));
  await cp("serverless.yml", join(directory, "serverless.yml"));
  await cp("infra", join(directory, "infra"), { recursive: true });
  const env = { PATH: process.env.PATH, HOME: directory };
  const bare = { cwd: directory, env, timeout: 60_000 };
  await run(process.execPath, [resolve("infra/build.mjs"), "functions"], bare);
  await run(process.execPath, [resolve("node_modules/osls/bin/serverless.js"), "package"], bare);
  const packages = join(directory, ".serverless");
  const template = await readFile(join(packages, "cloudformation-template-update-stack.json"));
  const { Resources, Outputs } = templateSchema.parse(JSON.parse(template.toString()));
  return {
    directory,
    resources: Resources,
    outputs: Outputs,
    filesOf: async (name) => namesInZip(await readFile(join(packages, `${name}.zip`))),
    remove: () => rm(directory, { recursive: true }),
  };
};
