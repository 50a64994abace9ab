import { isDeepStrictEqual } from "node:util";
import { breakAttempts } from "../engine/attempt.ts";
import { pollerLease } from "../engine/poller/poll.ts";
import { aiTasksLease } from "../jobs/ai-tasks/watch-ai-tasks.ts";
import { thresholdsLease } from "../jobs/thresholds/sync.ts";
import { breakLease } from "../ledger/lease.ts";
import { ATTEMPT_TIMEOUT_MS, timeoutMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { Random } from "../platform/ports/random.ts";
import { type Access, createAccess } from "../provider/access.ts";
import { type Account, type AccountPorts, openAccounts } from "../provider/accounts.ts";
import type { AccountSettings, AccountsConfig } from "../provider/accounts-config.ts";
import { ownAccount } from "../provider/accounts-config.ts";
import { DEFAULT_ACCOUNT } from "../provider/default-account.ts";
import { createClosing } from "./closing.ts";
import { openCloud } from "./cloud.ts";
import { openDataDirectory } from "./data-directory.ts";
import { createMemoryStore, type DurableStore, openLevelStore } from "./durable-store.ts";
import { openLocalBus } from "./local-bus.ts";
import { openLocalLedger } from "./local-ledger.ts";
import { LOCAL_SENDER } from "./local-sender.ts";
import { openProvider, type Provider, type ProviderChoice } from "./provider.ts";
import { ssmSecrets } from "./ssm-secrets.ts";

/** Metrics of a local run are not kept: its events and its log show the same facts. */
export const countedNowhere: Metrics = { count: () => {}, measure: () => {} };

type Ports = Pick<AccountPorts, "ledger" | "bus" | "clock" | "random" | "log" | "environment">;

/** The accounts of a local run by the config in effect. */
interface LocalAccounts {
  readonly config: AccountsConfig;
  /** Follows the config. */
  readonly access: Access;
  accountOf(name: string): Account | undefined;
  /**
   * Replaces the config. An account keeps its permits, pause and key if the settings of its requests stay
   * the same; changed rights do not affect them.
   * @throws Error naming an account without provider or key; the earlier config stays in effect
   */
  replace(config: AccountsConfig): void;
}

/** The settings of an account's requests: all but rights and deadlines. */
const requestSettings = (settings: AccountSettings): Partial<AccountSettings> => {
  const { senders, operations, projects, deadlinesMs, ...rest } = settings;
  return rest;
};

interface OpenAccount {
  readonly settings: Partial<AccountSettings>;
  readonly account: Account | undefined;
}

/** Opens the accounts of a local run; accounts without a base URL use the provider of the run. */
const openLocalAccounts = (
  first: AccountsConfig,
  provider: Provider,
  ports: Ports,
): LocalAccounts => {
  const openNew = (config: AccountsConfig): ((name: string) => Account | undefined) =>
    openAccounts(
      config,
      {
        ...ports,
        attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
        metrics: countedNowhere,
        secrets: ssmSecrets,
        fetch,
      },
      provider,
    );

  let current: AccountsConfig;
  let access: Access;
  let open: ReadonlyMap<string, OpenAccount> = new Map();

  const replace = (config: AccountsConfig): void => {
    const next = config.accounts.map((each) => {
      const settings = requestSettings(each);
      const known = open.get(each.name);
      return { each, settings, kept: isDeepStrictEqual(known?.settings, settings) && known };
    });
    const accounts = next.filter(({ kept }) => !kept).map(({ each }) => each);
    const accountOf = openNew({ ...config, accounts });
    open = new Map(
      next.map(({ each: { name }, settings, kept }) => [
        name,
        kept || { settings, account: accountOf(name) },
      ]),
    );
    access = createAccess(config, LOCAL_SENDER);
    current = config;
  };
  replace(first);

  return {
    get config() {
      return current;
    },
    access: {
      accountsOf: (sender) => access.accountsOf(sender),
      mayRun: (wish) => access.mayRun(wish),
      maySee: (sender, account, project) => access.maySee(sender, account, project),
      deadlineMs: (account, operation) => access.deadlineMs(account, operation),
    },
    accountOf: (name) => open.get(name)?.account,
    replace,
  };
};

/** Options of a local run. */
export interface ResourceOptions {
  readonly provider: ProviderChoice;
  /** Accounts and rights; absent: one account at the run's provider, for Skyhook's own AWS account. */
  readonly accounts?: AccountsConfig | undefined;
  /** Environment variables, for accounts with a key in one (`environment`). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Data directory; absent: in memory. */
  readonly directory: string | undefined;
  /** `source` of every published event. */
  readonly eventSource: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Time from the limit of an invocation until its messages are visible again. It is shorter than in the cloud,
 * because a local function cannot outlive its invocation.
 */
const VISIBLE_AFTER_MS = 5_000;
const LOCAL_NUMBERS = {
  // One invocation at a time keeps events in the order in which they were put.
  requests: { visibilityMs: timeoutMsOf("intake") + VISIBLE_AFTER_MS, maximumConcurrency: 1 },
  commands: { visibilityMs: timeoutMsOf("run-commands") + VISIBLE_AFTER_MS },
  wake: { visibilityMs: timeoutMsOf("poll-tasks") + VISIBLE_AFTER_MS },
};

/** Queues with their functions, and both buses of Skyhook's AWS account. */
const openMessaging = async (options: ResourceOptions, store: DurableStore) => {
  const busOptions = { ...options, source: options.eventSource };
  return {
    cloud: await openCloud({ ...options, store, numbers: LOCAL_NUMBERS }),
    bus: await openLocalBus({ ...busOptions, map: store.map("bus") }),
    defaultBus: await openLocalBus({ ...busOptions, map: store.map("default-bus") }),
  };
};

/**
 * Opens the resources of a local run: ledger, queues, buses, provider and accounts. `close` closes them.
 * @param failing aborted with the error of the first failed write to the data directory
 * @throws DataDirectoryError when the data directory cannot be used, for instance in a second run
 * @throws Error with code EADDRINUSE when a port is taken, or naming an account without provider or key
 */
export const openResources = async (options: ResourceOptions, failing: AbortController) => {
  const { clock, random, log, directory } = options;
  const closing = createClosing();
  try {
    const data = directory === undefined ? undefined : await openDataDirectory(directory, random);
    const store = data
      ? await openLevelStore({ directory: data.messages, failing })
      : createMemoryStore();
    closing.add(() => store.close());
    const messaging = await openMessaging(options, store);
    // The open message store is the lock of the data directory, so the ledger opens after it.
    const { ledger, close } = await openLocalLedger({ data, failing, clock, log });
    closing.add(close);
    const surroundings = { clock, random, log, data, failing };
    const provider = await openProvider(options.provider, surroundings);
    closing.add(() => provider.close());
    const ownConfig = ownAccount(DEFAULT_ACCOUNT, provider.requestsPerSecond);
    const accounts = openLocalAccounts(options.accounts ?? ownConfig, provider, {
      ...options,
      ledger,
      bus: messaging.bus,
    });
    // Scheduled jobs use the first account, as a packaged stage does by default.
    const [jobSettings] = accounts.config.accounts;
    const jobAccount = jobSettings && accounts.accountOf(jobSettings.name);
    if (!jobAccount) throw new Error("the accounts file has no account");
    // Only this process has the data directory open, so no lease has a living holder.
    await breakLease(ledger, pollerLease(0));
    await breakLease(ledger, thresholdsLease(jobAccount.name));
    await breakLease(ledger, aiTasksLease(jobAccount.name));
    await breakAttempts(ledger, clock.now());
    return {
      ...messaging,
      ledger,
      provider,
      accounts,
      jobSettings,
      /** The account of the scheduled jobs, the same for the whole run. */
      jobAccount,
      /** Accounts and rights of a run without an accounts file. */
      ownConfig,
      fingerprintKey: data?.fingerprintKey ?? random.uuid(),
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
};
