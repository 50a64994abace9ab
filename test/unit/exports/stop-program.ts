import { startService } from "../../../lib/exports/service.ts";

/** A service with a delayed request, a frozen clock and an open connection. The process ends only without handles. */
const service = await startService({
  faults: ["get-policy=slow,delay=600s"],
  taskDurationMs: 600_000,
});
const headers = { authorization: `apikey ${service.apiKey}` };
const policy = `${service.url}/cloud/v1/lifecycle_policy/1234567/76/1`;
const delayed = [fetch(policy, { headers }), service.fetch(new Request(policy, { headers }))].map(
  (answer) => answer.catch(() => "lost"),
);
await (await fetch(`${service.url}/cloud/v1/tasks`, { headers })).text();
service.clock.freeze();
await service.stop();
await Promise.all(delayed);
