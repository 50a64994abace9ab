import * as z from "zod";
import type { PlacedProblem } from "../contract/problem.ts";
import { OWN } from "./accounts-config.ts";

/** Rules between the fields of an accounts file, on its content as it was read. */
export type AccountRules = (content: unknown) => readonly PlacedProblem[];

type Path = readonly PropertyKey[];

/** As much of a file as the rules look at; what is no such thing at all, the schema tells of. */
const looseSchema = z.looseObject({
  accounts: z.array(z.looseObject({}).catch({})).catch([]),
  aws_accounts: z.array(z.looseObject({}).catch({})).catch([]),
});
type LooseFile = z.output<typeof looseSchema>;

const fileOf = (content: unknown): LooseFile =>
  looseSchema.safeParse(content).data ?? { accounts: [], aws_accounts: [] };

/** @param placeOf where the value at an index stands */
const repeated = (
  values: readonly unknown[],
  placeOf: (index: number) => Path,
): readonly PlacedProblem[] =>
  values.flatMap((value, index) => {
    const first = values.indexOf(value);
    // What is no text is wrong by itself, and the schema tells of that.
    return typeof value !== "string" || first === index
      ? []
      : [{ path: placeOf(index), rule: `the same as ${placeOf(first).map(String).join(".")}` }];
  });

interface PlacedSender {
  readonly sender: unknown;
  readonly path: Path;
}

const sendersOf = (senders: unknown, path: Path): readonly PlacedSender[] =>
  (z.array(z.unknown()).safeParse(senders).data ?? []).map((entry, at) => {
    const rights = z.looseObject({}).safeParse(entry).data;
    return rights
      ? { sender: rights.sender, path: [...path, at, "sender"] }
      : { sender: entry, path: [...path, at] };
  });

/** Each name, sender and AWS account once; and nobody has rights who could not put an event on the bus. */
const namesAndSenders = (file: LooseFile): readonly PlacedProblem[] => {
  // One that was not put in quotes is told of where it stands, and not for each of its senders.
  const guests = file.aws_accounts.map(({ id }) => String(id).padStart(12, "0"));
  const mayPut = new Set<unknown>([OWN, ...guests]);
  const isStranger = (sender: unknown): boolean =>
    file.organization === undefined &&
    typeof sender === "string" &&
    /^\d{12}$/.test(sender) &&
    !mayPut.has(sender);
  const ofSenders = file.accounts.flatMap(({ senders }, index) => {
    const placed = sendersOf(senders, ["accounts", index, "senders"]);
    const placeOf = (at: number): Path => placed[at]?.path ?? [];
    return [
      ...repeated(
        placed.map(({ sender }) => sender),
        placeOf,
      ),
      ...placed.flatMap(({ sender, path }) =>
        isStranger(sender)
          ? [{ path, rule: "puts no events: not in aws_accounts, no organization" }]
          : [],
      ),
    ];
  });
  const names = file.accounts.map(({ name }) => name);
  const ids = file.aws_accounts.map(({ id }) => id);
  return [
    ...repeated(names, (index) => ["accounts", index, "name"]),
    ...ofSenders,
    ...repeated(ids, (index) => ["aws_accounts", index, "id"]),
  ];
};

/** No key may go to an address that it was not given for. */
const keysOfAddresses = (file: LooseFile): readonly PlacedProblem[] =>
  file.accounts.flatMap(({ base_url, api_key }, index) =>
    base_url !== undefined && api_key === undefined
      ? [{ path: ["accounts", index, "api_key"], rule: "required with base_url" }]
      : [],
  );

/** What is said of a provider's API, and holds for one that the account names only. */
const OF_ADDRESSES = ["task_path", "pool_path", "lists", "settle"];

const factsOfNoAddress = (file: LooseFile): readonly PlacedProblem[] =>
  file.accounts.flatMap((account, index) =>
    OF_ADDRESSES.flatMap((field) =>
      account.base_url === undefined && account[field] !== undefined
        ? [{ path: ["accounts", index, field], rule: "only together with base_url" }]
        : [],
    ),
  );

/** What an AWS account's commands came to goes to no other one. */
const busesOfOthers = (file: LooseFile): readonly PlacedProblem[] =>
  file.aws_accounts.flatMap(({ id, bus }, index) => {
    const owner = typeof bus === "string" ? /^arn:[^:]*:events:[^:]*:(\d{12}):/.exec(bus)?.[1] : id;
    return typeof id !== "string" || owner === undefined || owner === id
      ? []
      : [
          {
            path: ["aws_accounts", index, "bus"],
            rule: "the bus of another AWS account: the id in its ARN is to be the id of this entry",
          },
        ];
  });

/** What holds for every accounts file. */
export const rulesBetweenAccounts: AccountRules = (content) => {
  const file = fileOf(content);
  return [
    ...namesAndSenders(file),
    ...busesOfOthers(file),
    ...keysOfAddresses(file),
    ...factsOfNoAddress(file),
  ];
};

/** What holds for one that is deployed: there is no provider beside those that it names. */
export const rulesOfDeployment: AccountRules = (content) => {
  const file = fileOf(content);
  const missing = file.accounts.flatMap((account, index) =>
    ["base_url", "api_key"].flatMap((field) =>
      account[field] === undefined ? [{ path: ["accounts", index, field], rule: "required" }] : [],
    ),
  );
  return [...namesAndSenders(file), ...busesOfOthers(file), ...missing];
};
