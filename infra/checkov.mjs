/**
 * Reviews the packaged template with checkov, and compares each finding with infra/checkov-findings.yaml.
 * Not a part of `npm run check`: it installs a large Python package from the package registry.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { pythonProgram } from "./python-tools.mjs";

const TEMPLATE = ".serverless/cloudformation-template-update-stack.json";
const ACCEPTED = "infra/checkov-findings.yaml";

const { stdout, stderr } = spawnSync(
  pythonProgram("checkov"),
  ["--file", TEMPLATE, "--framework", "cloudformation", "--compact", "--output", "json"],
  { encoding: "utf8" },
);
if (stdout === "") throw new Error(`checkov printed no report: ${stderr}`);
const { results, summary } = JSON.parse(stdout);
const accepted = parse(readFileSync(ACCEPTED, "utf8"));
const open = results.failed_checks.filter(({ check_id }) => !(check_id in accepted));
const found = new Set(results.failed_checks.map(({ check_id }) => check_id));
const stale = Object.keys(accepted).filter((id) => !found.has(id));

for (const { check_id, check_name, resource } of open) {
  process.stdout.write(
    `${check_id}: ${resource}: ${check_name}; change the resource, or add a reason to ${ACCEPTED}\n`,
  );
}
for (const id of stale)
  process.stdout.write(`${id}: no longer found; remove it from ${ACCEPTED}\n`);
process.stdout.write(
  `checkov ${summary.checkov_version}: ${summary.passed} passed, ${summary.failed} findings of ${found.size} checks, ${open.length} without a reason\n`,
);
if (open.length > 0 || stale.length > 0 || summary.parsing_errors > 0) process.exitCode = 1;
