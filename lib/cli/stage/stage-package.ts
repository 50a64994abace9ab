import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { packageFolder } from "../../platform/package-folder.ts";
import { readText } from "../config-files.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { exampleText } from "./example-files.ts";
import { paramsOf, parseServiceFile, readService, type Service } from "./service-file.ts";
import type { StageFlags } from "./stage-options.ts";
import { bucketTemplate, compileTemplate, type Template } from "./template.ts";
import { createVariables } from "./variables.ts";
import { type FunctionZip, functionZip } from "./zip.ts";

interface Folders {
  /** Folder of this package: serverless.yml, infra/ and the bundles of the functions. */
  readonly root: string;
  /** Folder of the user's files. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A stage, ready to be written or deployed. */
export interface StagePackage {
  readonly stackName: string;
  /** Start of all keys in the bucket, such as `skyhook/prod`. */
  readonly prefix: string;
  readonly region: string;
  readonly template: Template;
  /** The template of a new stack that holds only the bucket of the zips. */
  readonly bucketTemplate: Template;
  readonly zips: readonly FunctionZip[];
  readonly tags: Readonly<Record<string, string>>;
  /** The user's files: accounts and reactions. */
  readonly files: readonly string[];
  /** Names of the SSM parameters that must exist before a deployment. */
  readonly keyParameters: readonly string[];
}

const refused = (problems: readonly string[]): never => {
  throw new ExitError(EXIT.refused, problems.join("\n"));
};

/** `accounts.STAGE.yaml` if there is one, otherwise `accounts.yaml`. */
const stageFile = (kind: "accounts" | "reactions", stage: string, folder: string): string => {
  const own = `${kind}.${stage}.yaml`;
  const common = `${kind}.yaml`;
  if (existsSync(join(folder, own))) return own;
  if (existsSync(join(folder, common))) return common;
  return refused([`no ${own} or ${common} in this folder; npx skyhook init writes one to edit`]);
};

/** @throws ExitError for a name that no stage has */
const checkedParams = (known: readonly string[], given: StageFlags["param"]): void => {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const problems = unknown.map((name) => `--param: unknown parameter ${name}`);
  refused([...problems, `The parameters are ${known.join(", ")}.`]);
};

/**
 * Refuses a variable in a value of the command line, such as `${file(x.cjs)}`: it would be resolved like one of
 * serverless.yml, and could run a module or put a value of the environment into the template.
 */
const requirePlain = ({ stage, region = "", param }: StageFlags): void => {
  const values = Object.entries(param).map(([name, value]) => [`--param: ${name}`, value] as const);
  const given = [["--stage", stage], ["--region", region], ...values] as const;
  const problems = given.flatMap(([name, value]) =>
    value.includes("${") ? [`${name}: must not contain a variable, which begins with \${`] : [],
  );
  if (problems.length > 0) refused(problems);
};

/** Files of a bundle, which has no folders. */
const filesIn = (root: string, folder: string): readonly string[] =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);

/**
 * The files of a function's zip.
 * @param patterns of serverless.yml: a folder with `/**` at its end, or a file
 * @param converted the user's files, as JSON
 */
const filesOf = (
  patterns: readonly string[],
  root: string,
  converted: ReadonlyMap<string, string>,
): ReadonlyMap<string, Uint8Array> =>
  new Map(
    patterns
      .flatMap((pattern) =>
        pattern.endsWith("/**") ? filesIn(root, pattern.slice(0, -"/**".length)) : [pattern],
      )
      .map((file) => {
        const text = converted.get(file);
        const bytes = text === undefined ? readFileSync(join(root, file)) : Buffer.from(text);
        return [file, new Uint8Array(bytes)];
      }),
  );

/** What this packager needs of the modules in infra/. */
interface Infra {
  readonly configured: (osls: object) => Promise<{
    readonly keyParameters: readonly string[];
    readonly fingerprintKeyParameter: string;
  }>;
  readonly limitProblems: (template: Template, region: string) => readonly string[];
}

const BUNDLES = join("dist", "functions");

/**
 * Makes the template and the zips of a stage from the user's files, with serverless.yml and the functions of infra/ that
 * osls also uses. Writes nothing.
 * @throws ExitError listing every mistake in the files and parameters, or each limit of AWS that the template exceeds
 */
export const packageStage = async (
  flags: StageFlags,
  { root, folder, environment }: Folders,
): Promise<StagePackage> => {
  const { stage, region, param: params, bucket } = flags;
  requirePlain(flags);
  if (!existsSync(join(root, BUNDLES))) {
    refused([`${BUNDLES}: not built; in a clone of the repository run npm run build`]);
  }
  const raw = parseServiceFile(readFileSync(join(root, "serverless.yml"), "utf8"));
  const defaults = paramsOf(raw, stage);
  checkedParams(Object.keys(defaults), params);
  const given = {
    ...defaults,
    accountsFile: params.accountsFile ?? stageFile("accounts", stage, folder),
    reactionsFile: params.reactionsFile ?? stageFile("reactions", stage, folder),
    ...params,
  };
  const load = createRequire(join(root, "package.json"));
  const converted = new Map<string, string>();
  const host = {
    refuse: refused,
    keep: (file: string, text: string) => converted.set(file, text),
    textOf: (file: string) => readText(resolve(folder, file)),
    exampleOf: (kind: "accounts" | "reactions") => ({
      name: "the file that skyhook init writes",
      text: exampleText(kind, root),
    }),
  };
  const variables = createVariables({
    service: raw,
    stage,
    options: { region },
    environment,
    params: given,
    load: (path) => load(`./${path}`),
    host,
  });
  const service: Service = readService(await variables.resolved(raw));
  const prefix = `${service.service}/${stage}`;
  const zips = Object.entries(service.functions).map(([name, its]) =>
    functionZip(name, filesOf(its.package.patterns, root, converted), prefix),
  );
  const keys = new Map(zips.map(({ functionName, key }) => [functionName, key]));
  const template = compileTemplate({
    service,
    stage,
    bucket,
    keyOf: (name) => keys.get(name) ?? "",
  });
  const infra: Infra = {
    ...load("./infra/configured.cjs"),
    ...load("./infra/template-limits.cjs"),
  };
  const problems = infra.limitProblems(template, service.provider.region);
  if (problems.length > 0) refused(problems);
  const { keyParameters, fingerprintKeyParameter } = await infra.configured({
    ...variables,
    ...host,
  });
  return {
    stackName: `${service.service}-${stage}`,
    prefix,
    region: service.provider.region,
    template,
    bucketTemplate: bucketTemplate(),
    zips,
    tags: service.provider.stackTags,
    files: [String(given.accountsFile), String(given.reactionsFile)],
    keyParameters: [...new Set([...keyParameters, fingerprintKeyParameter])],
  };
};

/** Packages a stage from the files in the working folder. @throws ExitError as `packageStage` */
export const packageHere = (flags: StageFlags): Promise<StagePackage> =>
  packageStage(flags, { root: packageFolder(), folder: ".", environment: process.env });
