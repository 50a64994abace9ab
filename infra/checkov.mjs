/**
 * Reviews the packaged template with checkov, and holds each finding against infra/checkov-findings.yaml.
 * Not a part of `check`: it installs a large Python package, and needs the package registry for that.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { pythonProgram } from "./python-tools.mjs";

const TEMPLATE = ".serverless/cloudformation-template-update-stack.json";
const JUDGED = "infra/checkov-findings.yaml";

const { stdout, stderr } = spawnSync(
  pythonProgram("checkov"),
  ["--file", TEMPLATE, "--framework", "cloudformation", "--compact", "--output", "json"],
  { encoding: "utf8" },
);
if (stdout === "") throw new Error(`checkov printed nothing: ${stderr}`);
const { results, summary } = JSON.parse(stdout);
const judged = parse(readFileSync(JUDGED, "utf8"));
const open = results.failed_checks.filter(({ check_id }) => !(check_id in judged));
const found = new Set(results.failed_checks.map(({ check_id }) => check_id));
const stale = Object.keys(judged).filter((id) => !found.has(id));

for (const { check_id, check_name, resource } of open) {
  process.stdout.write(
    `${check_id}: ${resource}: ${check_name}; change it, or judge it in ${JUDGED}\n`,
  );
}
for (const id of stale) process.stdout.write(`${id}: no longer found; remove it from ${JUDGED}\n`);
process.stdout.write(
  `checkov ${summary.checkov_version}: ${summary.passed} passed, ${summary.failed} findings of ${found.size} checks, ${open.length} not judged\n`,
);
if (open.length > 0 || stale.length > 0 || summary.parsing_errors > 0) process.exitCode = 1;
