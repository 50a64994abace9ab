import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { inflateRawSync } from "node:zlib";
import * as z from "zod";

const run = promisify(execFile);

/** Folder of the first package. osls empties its default folder with each packaging. */
export const FIRST = "first";
/** A file outside of infra/ that infra/ reads. */
const NUMBERS = join("lib", "platform", "deployment.json");
export const OSLS = resolve("node_modules/osls/bin/serverless.js");
/** Where osls keeps its compiled config schema, which takes longer to compile than all else in a packaging. */
export const OSLS_CACHE = { SLS_SCHEMA_CACHE_BASE_DIR: join(tmpdir(), "skyhook-osls") };

const resourceSchema = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()),
});
const templateSchema = z.object({
  Parameters: z.record(z.string(), z.looseObject({ Type: z.string() })),
  Conditions: z.record(z.string(), z.unknown()),
  Resources: z.record(z.string(), resourceSchema),
  Outputs: z.record(z.string(), z.looseObject({ Value: z.unknown() })),
});

export type Resource = z.output<typeof resourceSchema>;

export interface Template {
  /** The resources of the packaged template by logical id. */
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: z.output<typeof templateSchema>["Outputs"];
  readonly parameters: z.output<typeof templateSchema>["Parameters"];
  readonly conditions: z.output<typeof templateSchema>["Conditions"];
}

/** Changes to the stage `dev` with the example files. */
export interface Stage {
  readonly name?: string;
  /** Contents by file name. Stage parameters refer to the names. */
  readonly files?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
}

export interface PackagedService extends Template {
  /** Working directory of `osls` for this service. */
  readonly directory: string;
  /** The files of a function's package by name. */
  filesOf(functionName: string): Promise<ReadonlyMap<string, Buffer>>;
  /** Packages a stage from the same bundles, in the folder `other`. */
  packageStage(stage: Stage): Promise<Template>;
  /** As `packageStage`, but packages an equal stage only once. Its files are in the directory then. */
  templateOf(stage: Stage): Promise<Template>;
  /** The output of a packaging that fails. @throws Error if it succeeds */
  refusalOf(stage: Stage): Promise<{ readonly stdout: string; readonly stderr: string }>;
  remove(): Promise<void>;
}

/** The files of a zip file, read from its central directory. */
const filesInZip = (zip: Buffer): ReadonlyMap<string, Buffer> => {
  const end = zip.lastIndexOf("PK\u0005\u0006");
  let at = zip.readUInt32LE(end + 16);
  const entries = Array.from({ length: zip.readUInt16LE(end + 10) }, (): [string, Buffer] => {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      zip.readUInt16LE(at + field),
    ) as [number, number, number]; // three fields in, three lengths out
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const header = zip.readUInt32LE(at + 42);
    const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    const bytes = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    const isDeflated = zip.readUInt16LE(at + 10) === 8;
    at += 46 + nameLength + extraLength + commentLength;
    return [name, isDeflated ? inflateRawSync(bytes) : bytes];
  });
  return new Map(entries);
};

/** Arguments of osls for a stage. */
export const argumentsOf = ({ name = "dev", params = {} }: Stage): readonly string[] => [
  `--stage=${name}`,
  ...Object.entries(params).map(([param, value]) => `--param=${param}=${value}`),
];

/**
 * Builds and packages the functions like `npm run package`, in a new directory so that parallel runs do not
 * interfere, and without any AWS variable in the environment.
 */
export const packageService = async (stage: Stage = {}): Promise<PackagedService> => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-package-"));
  await cp("serverless.yml", join(directory, "serverless.yml"));
  await cp("infra", join(directory, "infra"), { recursive: true });
  await mkdir(join(directory, "lib", "platform"), { recursive: true });
  await cp(NUMBERS, join(directory, NUMBERS));
  const env = { PATH: process.env.PATH, HOME: directory, ...OSLS_CACHE };
  const bare = { cwd: directory, env, timeout: 170_000 };
  await run(process.execPath, [resolve("infra/build.mjs"), "functions"], bare);

  const writeFilesOf = async ({ files = {} }: Stage): Promise<void> => {
    for (const [file, text] of Object.entries(files)) await writeFile(join(directory, file), text);
  };
  const packageTo = async (folder: string, stage: Stage) => {
    await writeFilesOf(stage);
    const options = [...argumentsOf(stage), `--package=${folder}`];
    return run(process.execPath, [OSLS, "package", ...options], bare);
  };
  const templateIn = async (folder: string): Promise<Template> => {
    const file = join(directory, folder, "cloudformation-template-update-stack.json");
    const template = templateSchema.parse(JSON.parse(await readFile(file, "utf8")));
    const { Resources, Outputs, Parameters, Conditions } = template;
    return {
      resources: Resources,
      outputs: Outputs,
      parameters: Parameters,
      conditions: Conditions,
    };
  };
  const packageStage = async (stage: Stage): Promise<Template> => {
    await packageTo("other", stage);
    return templateIn("other");
  };
  const packaged = new Map<string, Promise<Template>>();
  await packageTo(FIRST, stage);
  return {
    ...(await templateIn(FIRST)),
    directory,
    filesOf: async (name) => filesInZip(await readFile(join(directory, FIRST, `${name}.zip`))),
    packageStage,
    async templateOf(stage) {
      const key = JSON.stringify(stage);
      const template = packaged.get(key) ?? packageStage(stage);
      packaged.set(key, template);
      await writeFilesOf(stage);
      return template;
    },
    async refusalOf(stage) {
      const outcome = await packageTo("refused", stage).then(
        () => undefined,
        (error: unknown) => z.object({ stdout: z.string(), stderr: z.string() }).parse(error),
      );
      if (!outcome) throw new Error("expected the packaging to fail, but it succeeded");
      return outcome;
    },
    remove: () => rm(directory, { recursive: true }),
  };
};
