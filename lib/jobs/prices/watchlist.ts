import * as z from "zod";
import { type ConfigReading, readConfig, rememberingLast } from "../../config/config-file.ts";
import { previewInstancePrice } from "../../contract/instance-price.ts";
import { getDdosPrice, getGpuClusterPrice, getK8sClusterPrice } from "../../contract/prices.ts";
import type { PlacedProblem } from "../../contract/problem.ts";
import { PRICE_KINDS } from "./price.ts";

const MAX_ITEMS = 500;

const NAME_RULE = "1 to 64 letters, digits, dots, underscores or hyphens";
const KIND_RULE = `give exactly one of ${PRICE_KINDS.join(", ")}`;

const nameSchema = z
  .string()
  // Dots alone would change the path of a URL.
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/, {
    error: ({ input }) => (input === "." || input === ".." ? "must not be . or .." : NAME_RULE),
  })
  .meta({
    title: "Name",
    description: `Name of the item in the price history and in events; each name once. ${NAME_RULE}, not . or ..`,
  });

const entrySchema = z
  .strictObject({
    name: nameSchema,
    instance: z
      .strictObject({
        ...previewInstancePrice.params.shape,
        body: previewInstancePrice.body.meta({
          title: "Instances to price, as in the body of preview-instance-price (E6)",
        }),
      })
      .optional()
      .meta({ title: "New instances", description: "Price of an order of new instances (E6)" }),
    k8s_cluster: getK8sClusterPrice.params
      .optional()
      .meta({ title: "Kubernetes cluster", description: "Price of an existing cluster (E7)" }),
    gpu_cluster: getGpuClusterPrice.params
      .optional()
      .meta({ title: "GPU cluster", description: "Price of one server of a GPU cluster (E12)" }),
    ddos: getDdosPrice.params
      .optional()
      .meta({ title: "DDoS protection", description: "Price of the protection in a region (E9)" }),
  })
  .meta({
    title: "Item",
    description: `One price to watch: ${KIND_RULE}`,
    oneOf: PRICE_KINDS.map((kind) => ({ required: [kind] })),
  });

/** The parts of the content that the cross-field rules check. */
const looseListSchema = z.looseObject({ items: z.array(z.unknown()) });
const looseEntrySchema = z.looseObject({ name: z.unknown().optional() });

type LooseEntry = z.output<typeof looseEntrySchema>;

const kindProblems = (
  entry: LooseEntry,
  path: readonly PropertyKey[],
): readonly PlacedProblem[] => {
  const [first, second] = PRICE_KINDS.filter((kind) => entry[kind] !== undefined);
  if (first === undefined) return [{ path, rule: KIND_RULE }];
  return second === undefined ? [] : [{ path: [...path, second], rule: KIND_RULE }];
};

/** Requires exactly one kind for each item, and unique names. */
const crossFieldRules = (content: unknown): readonly PlacedProblem[] => {
  const problems: PlacedProblem[] = [];
  const names = new Set<unknown>();
  const entries = looseListSchema.safeParse(content).data?.items ?? [];
  for (const [index, raw] of entries.entries()) {
    const entry = looseEntrySchema.safeParse(raw).data;
    if (!entry) continue;
    const path = ["items", index];
    problems.push(...kindProblems(entry, path));
    if (entry.name !== undefined && names.has(entry.name)) {
      problems.push({ path: [...path, "name"], rule: "duplicate name: each item needs its own" });
    }
    names.add(entry.name);
  }
  return problems;
};

export const watchlistSchema = z
  .strictObject({
    $schema: z.string().optional().meta({
      title: "Schema",
      description: "Path or URL of this JSON Schema, for editors",
    }),
    items: z
      .array(entrySchema)
      .max(MAX_ITEMS, { error: `at most ${MAX_ITEMS} items` })
      .meta({ title: "Items", description: "Prices to watch" }),
  })
  .meta({
    title: "Watchlist",
    description: "Prices that Skyhook reads, stores and compares",
  });

type Entry = z.output<typeof entrySchema>;

/** Order of an entry; the cross-field rules require exactly one kind. */
const orderOf = ({ instance, k8s_cluster, gpu_cluster, ddos }: Entry) => {
  if (instance) {
    const { body, ...params } = instance;
    return { kind: "instance", params, body } as const;
  }
  if (k8s_cluster) return { kind: "k8s_cluster", params: k8s_cluster } as const;
  if (gpu_cluster) return { kind: "gpu_cluster", params: gpu_cluster } as const;
  return ddos && ({ kind: "ddos", params: ddos } as const);
};

/** Request for one price. */
export type PriceOrder = NonNullable<ReturnType<typeof orderOf>>;

/** Price to watch. */
export interface WatchlistItem {
  readonly name: string;
  readonly order: PriceOrder;
}

/** Reads a watchlist, YAML or JSON; reports every mistake in it at once, with its line. */
export const readWatchlist = rememberingLast(
  (text: string): ConfigReading<readonly WatchlistItem[]> => {
    const read = readConfig(watchlistSchema, text, crossFieldRules);
    if (read.kind === "invalid") return read;
    const items = read.value.items.flatMap((entry) => {
      const order = orderOf(entry);
      return order ? [{ name: entry.name, order }] : [];
    });
    return { kind: "valid", value: items };
  },
);
