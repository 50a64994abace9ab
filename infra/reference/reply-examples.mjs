import * as z from "zod";

/** Noon of a day on which all built-in records exist. */
const NOW = Date.UTC(2026, 0, 31, 12);
const KEY = "the-key-of-the-examples";

/** Ports that give the same replies at each run. */
const createPorts = () => {
  let ids = 0;
  const nextId = () => {
    ids += 1;
    return `01c13f2c-5a00-7000-8000-${String(ids).padStart(12, "0")}`;
  };
  return {
    clock: { now: () => NOW, sleep: async () => undefined },
    random: { fraction: () => 0.5, uuid: nextId },
    taskDurationMs: 1_500,
    apiKey: KEY,
    onFault: (error) => {
      throw error;
    },
  };
};

const queryOf = ({ query }, sent, optional) => {
  const search = new URLSearchParams();
  for (const name of Object.keys(query.shape)) {
    for (const value of [sent?.[name] ?? optional[name]].flat()) search.append(name, value);
  }
  return search;
};

const requestOf = (operation, { params = {}, query, body }, optionalQuery, formatWireJson) => {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name]));
  return new Request(`http://127.0.0.1${path}?${queryOf(operation, query, optionalQuery)}`, {
    method: operation.method,
    headers: { authorization: `apikey ${KEY}`, "content-type": "application/json" },
    ...(body && { body: formatWireJson(z.encode(operation.body, body)) }),
  });
};

/**
 * Replies of the service to the example of each operation, by operation id. Each example meets the built-in state.
 * @param startService `(ports) => Promise<Service>`
 * @throws Error for an example that the service refuses
 */
export const replyExamples = async (given) => {
  const { operations, examples, optionalQuery, formatWireJson, startService } = given;
  const replies = {};
  for (const operation of operations) {
    const service = await startService(createPorts());
    const example = examples[operation.id];
    const request = requestOf(operation, example, optionalQuery, formatWireJson);
    const response = await service.fetch(request);
    const text = await response.text();
    if (!response.ok) throw new Error(`example of ${operation.id}: ${response.status} ${text}`);
    if (text !== "") replies[operation.id] = JSON.parse(text);
  }
  return replies;
};
