/**
 * Checks the workflows of .github/ with actionlint, which is a Go program: `npm run lint:workflows`. Without Go it
 * says so and succeeds, because nothing else here needs Go.
 */
import { spawnSync } from "node:child_process";

const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";

const go = (...args) => spawnSync("go", args, { stdio: "inherit" });

if (go("version").status === 0) {
  // Also checks the shell scripts of the steps, if shellcheck is installed.
  process.exitCode = go("run", ACTIONLINT).status ?? 1;
} else {
  process.stdout.write("NOT RUN without Go: actionlint\n");
}
