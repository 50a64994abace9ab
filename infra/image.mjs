/**
 * Builds the container image `skyhook` from infra/Dockerfile with Docker or Podman: `npm run image`. Further arguments
 * go to the build, such as `--build-arg NODE_IMAGE=…`.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * The program that builds and runs containers: SKYHOOK_CONTAINER_TOOL, else the first of Docker and Podman that works.
 * Undefined if there is none. The client of Docker without its daemon does not count.
 */
export const findContainerTool = ({ SKYHOOK_CONTAINER_TOOL } = process.env) =>
  (SKYHOOK_CONTAINER_TOOL ? [SKYHOOK_CONTAINER_TOOL] : ["docker", "podman"]).find(
    (name) => spawnSync(name, ["info"]).status === 0,
  );

/** Podman's own format has no health check. */
const formatOf = (tool) => (tool === "docker" ? [] : ["--format", "docker"]);

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const tool = findContainerTool();
  if (tool === undefined) {
    process.stderr.write("no image: neither Docker nor Podman works here; start or install one\n");
    process.exitCode = 1;
  } else {
    const options = ["--file", "infra/Dockerfile", "--tag", "skyhook", ...formatOf(tool)];
    const { status } = spawnSync(tool, ["build", ...options, ...process.argv.slice(2), "."], {
      cwd: ROOT,
      stdio: "inherit",
    });
    process.exitCode = status ?? 1;
  }
}
