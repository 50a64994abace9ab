import { Refusal } from "../admin/admin.ts";
import {
  type ProviderView,
  providerClockSchema,
  providerFaultSchema,
  providerFaultsSchema,
  providerRecordsSchema,
  providerRequestsSchema,
  providerStateSchema,
  providerTasksSchema,
} from "../admin/provider-view.ts";
import { OPERATIONS } from "../contract/operations.ts";
import { type ActiveFault, FAULT_KINDS } from "../service/fault-rules.ts";
import { FaultTextError, faultText, parseFault } from "../service/fault-text.ts";
import { countRecords, listRecords, listTasks } from "../service/inspection.ts";
import type { OpenService } from "../service/open-service.ts";

const RECORDS_A_PAGE = 50;
const NEWEST_TASKS = 100;

/** @throws Refusal with what is wrong with the rule */
const ruleOf = (text: string) => {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof FaultTextError) throw new Refusal(400, error.message);
    throw error;
  }
};

const shownFault = ({ rule, ...fault }: ActiveFault) =>
  providerFaultSchema.parse({ ...fault, rule: faultText(rule) });

/** The embedded service for the console of its run. */
export const createProviderView = ({
  url: baseUrl,
  inspect,
  control,
}: Pick<OpenService, "control" | "inspect" | "url">): ProviderView => {
  const { clock, faults } = control;
  const readClock = async () => providerClockSchema.parse(clock.read());
  const readFaults = async () =>
    providerFaultsSchema.parse({
      rules: faults.list().map(shownFault),
      operations: OPERATIONS.map(({ id }) => id),
      kinds: FAULT_KINDS,
    });
  return {
    async state() {
      return providerStateSchema.parse({ baseUrl, kinds: countRecords(await inspect()) });
    },
    async records(kind, offset) {
      const page = listRecords(await inspect(), kind, { offset, limit: RECORDS_A_PAGE });
      return page && providerRecordsSchema.parse(page);
    },
    async tasks() {
      return providerTasksSchema.parse(listTasks(await inspect(), NEWEST_TASKS));
    },
    requests: async () => providerRequestsSchema.parse(control.requests.list()),
    faults: readFaults,
    addFault: async (text) => shownFault(faults.add(ruleOf(text))),
    async removeFault(id) {
      if (!faults.list().some((fault) => fault.id === id)) return undefined;
      faults.remove(id);
      return readFaults();
    },
    clock: readClock,
    async advanceClock(durationMs) {
      try {
        clock.advance(durationMs);
      } catch (error) {
        if (error instanceof RangeError) throw new Refusal(400, `by: ${error.message}`);
        throw error;
      }
      return readClock();
    },
    async freezeClock() {
      clock.freeze();
      return readClock();
    },
    async resumeClock() {
      clock.resume();
      return readClock();
    },
  };
};
