import type { Command } from "commander";
import pc from "picocolors";
import * as z from "zod";
import { wholeNumber } from "../platform/lambda/settings.ts";
import {
  DEFAULT_FAULT_SEED,
  type Delay,
  delayOf,
  delaySchema,
  type FaultRule,
  shortened,
} from "../service/fault-rules.ts";
import { FaultTextError, faultText, parseFault } from "../service/fault-text.ts";
import type { FaultChoice } from "../service/open-service.ts";

/** Options of the embedded service's faults as commander reads them. */
export interface FaultFlags {
  readonly fault?: readonly string[];
  readonly latency?: string;
  readonly faultSeed?: string;
}

const MAX_SEED = 2 ** 32 - 1;

/** Every wrong rule is one part of the problem. */
const rulesSetting = z.array(z.string()).transform((texts, context): readonly FaultRule[] => {
  const problems: string[] = [];
  const rules = texts.flatMap((text) => {
    try {
      return [parseFault(text)];
    } catch (error) {
      if (!(error instanceof FaultTextError)) throw error;
      problems.push(`'${shortened(text)}': ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) context.addIssue({ code: "custom", message: problems.join("; ") });
  return rules;
});

/** Settings of the options. */
export const faultSettings = {
  "--fault": rulesSetting.optional(),
  "--latency": delaySchema.optional(),
  "--fault-seed": wholeNumber(0, MAX_SEED).optional(),
};

export const givenFaults = ({ fault, latency, faultSeed }: FaultFlags) => ({
  "--fault": fault,
  "--latency": latency,
  "--fault-seed": faultSeed,
});

/** The faults of a run; undefined for none. */
export const faultChoiceOf = ({
  "--fault": rules = [],
  "--latency": latency,
  "--fault-seed": seed,
}: {
  readonly "--fault"?: readonly FaultRule[] | undefined;
  readonly "--latency"?: string | undefined;
  readonly "--fault-seed"?: number | undefined;
}): FaultChoice | undefined =>
  rules.length === 0 && latency === undefined && seed === undefined
    ? undefined
    : { rules, seed, latency: latency === undefined ? undefined : delayOf(latency) };

const oftenText = ({ times, probability }: FaultRule): string => {
  if (times !== undefined) return `the next ${times === 1 ? "request" : `${times} requests`}`;
  return probability === undefined
    ? "every request"
    : `${Number((probability * 100).toFixed(6))} % of the requests`;
};

const delayText = ({ fromMs, toMs }: Delay): string =>
  fromMs === toMs ? `${fromMs} ms` : `${fromMs} to ${toMs} ms`;

const widest = (rules: readonly FaultRule[]): number =>
  Math.max(...rules.map((rule) => faultText(rule).length));

const NONE: FaultChoice = { rules: [] };

/** Lines that announce active faults, so that they are not taken for errors; none without faults. */
export const faultLines = ({
  rules,
  latency,
  seed = DEFAULT_FAULT_SEED,
}: FaultChoice = NONE): readonly string[] =>
  rules.length === 0 && latency === undefined
    ? []
    : [
        pc.yellow(`Faults are active (seed ${seed}), so requests to the service fail on purpose:`),
        ...rules.map((rule) => `  ${faultText(rule).padEnd(widest(rules))}  ${oftenText(rule)}`),
        ...(latency ? [`  latency of every request: ${delayText(latency)}`] : []),
      ];

const collect = (text: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  text,
];

/** Declares the options. */
export const addFaultOptions = (command: Command): Command =>
  command
    .option(
      "--fault <rule>",
      "fault of the service, such as update-pool=lost-reply-after:20% (repeatable; see docs/faults.md)",
      collect,
    )
    .option("--latency <duration>", "delay of every request, such as 200ms or 200ms..2s")
    .option(
      "--fault-seed <n>",
      `seed of the faults' random numbers (default: ${DEFAULT_FAULT_SEED})`,
    );
