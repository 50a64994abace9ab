import { expect, test } from "vitest";
import { thresholdsLease } from "../../../lib/jobs/thresholds/sync.ts";
import { takeLease } from "../../../lib/ledger/lease.ts";
import { checkThresholds } from "./checks/thresholds.ts";
import { openCloud } from "./cloud/cloud.ts";
import { planOf } from "./plan/plan.ts";

const STORM_MS = 6 * 60_000;
const LEASE_MS = 100_000;

test("a check during another sync waits for it and reports no violation", async () => {
  // A seed with a valid config, run without any fault.
  const plan = planOf(810820609);
  const cloud = await openCloud({ plan, decide: () => undefined });
  const { jobs, timeline, provider, versions } = cloud;
  for (const version of versions) jobs.write(version);
  cloud.start();
  await timeline.advance(STORM_MS);
  let meddled = 0;
  const meddle: typeof provider.meddle = async (...request) => {
    meddled += 1;
    const name = thresholdsLease(cloud.jobAccount);
    const deps = { ledger: cloud.ledger.true, clock: timeline };
    await takeLease(deps, { name, by: "another", durationMs: LEASE_MS });
    return provider.meddle(...request);
  };

  const violations = await checkThresholds({ ...cloud, provider: { ...provider, meddle } });

  expect(meddled).toBe(1);
  expect(violations).toEqual([]);
});
