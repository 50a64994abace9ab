import { createHandler as createIntake } from "../../functions/intake/handler.ts";
import type { AccountsConfig } from "../accounts/config.ts";
import type { IntakeDeps } from "../intake/take-in.ts";
import type { InvocationLog } from "../lambda/invocation-log.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { BusEvent } from "./bus-records.ts";
import type { BusHandler } from "./event-delivery.ts";
import { type Buses, leadToIntake, leadToSubscribers } from "./event-rules.ts";
import { lambdaContext } from "./lambda-context.ts";
import type { PutEvent } from "./local-bus.ts";
import { LOCAL_SENDER } from "./own-account.ts";

export interface EventRoutesOptions {
  readonly buses: Buses;
  readonly accounts: AccountsConfig;
  readonly intake: IntakeDeps;
  readonly log: InvocationLog;
  readonly clock: Clock;
  readonly random: Random;
}

/** The ways of events between AWS accounts, as rules and policies make them in the cloud. */
export interface EventRoutes {
  /** Sets up the rules. To be called once, behind whoever shows events to a person. */
  connect(): void;
  /**
   * Puts an event on Skyhook's bus, or on the default one of our own AWS account.
   * @throws PutRefused when the bus's policy does not let that AWS account do so
   */
  put(event: PutEvent, onDefaultBus?: boolean): Promise<BusEvent>;
  /** The handler gets what the rule for that AWS account sends to its bus. */
  subscribeAs(awsAccount: string, handler: BusHandler): void;
}

/** The bus does not take an event of this AWS account. */
export class PutRefused extends Error {
  override readonly name = "PutRefused";
}

/** As in serverless.yml. */
const TIMEOUT_MS = 30_000;

/** To be connected before the buses start, so that no stored event is missed. */
export const createEventRoutes = (options: EventRoutesOptions): EventRoutes => {
  const { buses, accounts, intake, log } = options;
  const { eventSource, reactions } = intake;
  const { awsAccounts, organization } = accounts;
  const handlers = new Map<string, BusHandler[]>();
  const handler = createIntake(async () => ({ intake, log }));

  /** As infra/event-bus.cjs has it. */
  const refusalOf = ({ account = LOCAL_SENDER, source }: PutEvent, onDefaultBus: boolean) => {
    if (source.startsWith("aws.") && !onDefaultBus && account === LOCAL_SENDER) {
      return "AWS services put their events on the default bus (--bus default)";
    }
    if (account === LOCAL_SENDER) return undefined;
    if (onDefaultBus) return "the default bus takes events of our own AWS account only";
    if (source === eventSource) return `source ${eventSource} is ours`;
    const isKnown = organization !== undefined || awsAccounts.some(({ id }) => id === account);
    return isKnown ? undefined : `AWS account ${account} may put no events: see aws_accounts`;
  };

  return {
    connect() {
      leadToIntake(buses, { reactions, eventSource }, async (call) => {
        await handler(call, lambdaContext("intake", TIMEOUT_MS, options));
      });
      leadToSubscribers(buses, { awsAccounts, eventSource }, async (awsAccount, event) => {
        for (const handle of handlers.get(awsAccount) ?? []) await handle(event);
      });
    },
    async put(event, onDefaultBus = false) {
      const refusal = refusalOf(event, onDefaultBus);
      if (refusal !== undefined) throw new PutRefused(refusal);
      return (onDefaultBus ? buses.defaultBus : buses.bus).put(event);
    },
    subscribeAs(awsAccount, handle) {
      handlers.set(awsAccount, [...(handlers.get(awsAccount) ?? []), handle]);
    },
  };
};
