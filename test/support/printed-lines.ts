import { vi } from "vitest";

/** Takes what is printed from now on; each line is read as JSON. The test restores all mocks. */
export const printedLines = (): (() => readonly unknown[]) => {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((line) => {
      lines.push(String(line));
      return true;
    });
  }
  return () => lines.map((line) => JSON.parse(line));
};
