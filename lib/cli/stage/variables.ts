/** Where the variables of serverless.yml and infra/ come from. */
export interface VariableSources {
  /** Content of serverless.yml, with its variables. */
  readonly service: unknown;
  readonly stage: string;
  /** `opt:`, the options of the command line. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** `env:` */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `param:`, the parameters of the stage. */
  readonly params: Readonly<Record<string, unknown>>;
  /** `file()`: the content of a JSON file, or the exports of a CommonJS module. */
  readonly load: (path: string) => unknown;
  /** Given to each function of a loaded module, beside `resolveVariable`. */
  readonly host: object;
}

export interface Variables {
  /**
   * Resolves an address such as `param:eventSource`, or several separated by commas: the first that has a value.
   * @throws Error for an address without a value, or of an unknown source
   */
  resolveVariable(address: string): Promise<unknown>;
  /** A copy with every variable in its texts resolved. A text that is one variable becomes its value. */
  resolved(value: unknown): Promise<unknown>;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null;

/** `${param:x}` or `${file(infra/x.cjs):y}`. `${AWS::Region}` and `${Bucket.Arn}` are CloudFormation's. */
const VARIABLE = /\$\{((?:self|param|opt|env|sls):(?!:)[^{}]*|file\([^{}]*)\}/g;
const ADDRESS = /^(?:(self|param|opt|env|sls):(.+)|file\(([^)]+)\)(?::(.+))?)$/;

/**
 * Resolves the variables of osls that this repository uses, in the same way, so that the installed package needs no
 * osls. A function of infra/ is called with an object that has `resolveVariable`, as osls calls it.
 */
export const createVariables = (sources: VariableSources): Variables => {
  const memberAt = async (value: unknown, path: string | undefined): Promise<unknown> => {
    let found = value;
    for (const name of path?.split(".") ?? []) {
      // A part of the path may itself be a variable, such as the content of a file.
      const members = typeof found === "string" ? await resolved(found) : found;
      found = isMembers(members) ? members[name] : undefined;
    }
    return found;
  };

  const valueOfFile = async (path: string, name: string | undefined): Promise<unknown> => {
    const value = await memberAt(sources.load(path), name);
    return typeof value === "function" ? value({ ...sources.host, resolveVariable }) : value;
  };

  /** The value of one address; undefined if its source has none. */
  const find = async (address: string): Promise<unknown> => {
    if (address === "null") return null;
    const literal = /^'([^']*)'$/.exec(address)?.[1];
    if (literal !== undefined) return literal;
    const [, source, name = "", path, member] = ADDRESS.exec(address) ?? [];
    if (path !== undefined) return valueOfFile(path, member);
    switch (source) {
      case "self":
        return memberAt(sources.service, name);
      case "param":
        return sources.params[name];
      case "opt":
        return sources.options[name];
      case "env":
        return sources.environment[name];
      default:
        if (address === "sls:stage") return sources.stage;
        throw new Error(`serverless.yml: unknown variable ${address}`);
    }
  };

  const resolveVariable = async (addresses: string): Promise<unknown> => {
    for (const address of addresses.split(",")) {
      const found = await find(address.trim());
      if (found !== undefined) return resolved(found);
    }
    throw new Error(`serverless.yml: the variable ${addresses} has no value`);
  };

  const resolvedText = async (text: string): Promise<unknown> => {
    const parts: unknown[] = [];
    let at = 0;
    for (const match of text.matchAll(VARIABLE)) {
      const value = await resolveVariable(match[1] ?? "");
      if (match[0] === text) return value;
      parts.push(text.slice(at, match.index), value);
      at = match.index + match[0].length;
    }
    return [...parts, text.slice(at)].join("");
  };

  const resolved = async (value: unknown): Promise<unknown> => {
    if (typeof value === "string") return resolvedText(value);
    if (Array.isArray(value)) return Promise.all(value.map(resolved));
    if (!isMembers(value)) return value;
    const entries = Object.entries(value).map(async ([name, each]) => [name, await resolved(each)]);
    return Object.fromEntries(await Promise.all(entries));
  };

  return { resolveVariable, resolved };
};
