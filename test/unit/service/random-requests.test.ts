import fc from "fast-check";
import { expect, test } from "vitest";
import { createOpenApi } from "../../../lib/contract/openapi.ts";
import { createMemoryStore, type Store } from "../../../lib/service/store.ts";
import { type Answered, checkAnswer, contractOf } from "./answer-rules.ts";
import { builtInWorld } from "./built-in-world.ts";
import { startService } from "./harness.ts";
import {
  type DescribedOperation,
  fittingRequests,
  malformedRequests,
  type RandomRequest,
  readDocument,
  strangeRequests,
  toRequest,
} from "./random-request.ts";

/** The same requests in every run. To search for bugs, `FC_SEED` selects others and `FC_TIMES` sets their number. */
const seed = Number(process.env.FC_SEED ?? 20260101);
const times = Number(process.env.FC_TIMES ?? 1);
const TASK_DURATION_MS = 10_000;
const TIMEOUT_MS = 20_000 * times;

const { operations, components } = readDocument(createOpenApi());
const world = builtInWorld(components);

const countingStore = () => {
  const memory = createMemoryStore();
  let commits = 0;
  const store: Store = {
    ...memory,
    commit: (entries) => {
      commits += 1;
      return memory.commit(entries);
    },
  };
  return { store, commits: () => commits };
};

/** A service that reports with each response the number of commits during the request. */
const openService = async () => {
  const { store, commits } = countingStore();
  const { service, clock, faults, send } = await startService({
    store,
    taskDurationMs: TASK_DURATION_MS,
  });
  return {
    store,
    faults,
    answerTo: async (sent: RandomRequest): Promise<Answered> => {
      const before = commits();
      const response = await service.fetch(toRequest(sent));
      const text = await response.text();
      const { status, headers } = response;
      return { status, headers, text, commits: commits() - before };
    },
    /** Lets running tasks end, so that the resources that they lock can change again. */
    endTasks: async () => {
      await clock.advance(TASK_DURATION_MS);
      return send("GET", "/cloud/v1/tasks?limit=1000");
    },
  };
};

/** Sends all requests of a run and checks the state of the service afterwards. */
const sendAll = async <R extends RandomRequest>(
  operation: DescribedOperation,
  requests: fc.Arbitrary<R>,
  numRuns: number,
  check: (answer: Answered, sent: R) => void,
): Promise<ReadonlySet<number>> => {
  const { answerTo, endTasks, faults, store } = await openService();
  const statuses = new Set<number>();

  await fc.assert(
    fc.asyncProperty(requests, fc.boolean(), async (sent, isFree) => {
      if (isFree) await endTasks();
      const answer = await answerTo(sent);
      checkAnswer(operations, sent, answer);
      check(answer, sent);
      expect(faults).toEqual([]);
      statuses.add(answer.status);
    }),
    { seed: seed + operations.indexOf(operation), numRuns: numRuns * times },
  );

  // Accepted tasks end, the stored state is valid, and the process reported no fault.
  const tasks = await endTasks();
  expect(tasks.status).toBe(200);
  await startService({ store });
  expect(Object.keys(Object.prototype)).toEqual([]);
  return statuses;
};

const each = operations.map((operation) => [operation.method, operation.path, operation] as const);

test.each(each)(
  "%s %s accepts requests that match the OpenAPI document, except for missing or locked resources and cross-field rules",
  async (_, __, operation) => {
    const statuses = await sendAll(
      operation,
      fittingRequests(operation, world),
      50,
      ({ status }) => {
        expect([200, 204, 400, 404, 409]).toContain(status);
      },
    );

    expect([...statuses]).toContain(contractOf(operation)?.successStatus);
  },
  TIMEOUT_MS,
);

test.each(each)(
  "%s %s refuses malformed requests in the documented form and changes nothing",
  async (_, __, operation) => {
    const requests = malformedRequests(operation, world);
    const statuses = await sendAll(operation, requests, 50, ({ status }, { authorization }) => {
      const hasKey = authorization === `apikey ${world.apiKey}`;
      if (!hasKey) expect([400, 401, 413, 415]).toContain(status);
    });

    expect([...statuses]).toContain(400);
  },
  TIMEOUT_MS,
);

test.each(each)(
  "%s %s refuses fields that the OpenAPI document lacks, in query and body",
  async (_, __, operation) => {
    await sendAll(operation, strangeRequests(operation, world), 10, (answer, { strange }) => {
      const shown = strange.replaceAll(/\p{Surrogate}/gu, "\ufffd");
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(JSON.stringify(`${shown}: unknown field`).slice(1, -1));
    });
  },
  TIMEOUT_MS,
);
