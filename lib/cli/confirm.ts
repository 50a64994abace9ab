import { once } from "node:events";
import { createInterface } from "node:readline/promises";

/** Whether a question can be asked: both the input and the place of the question are a terminal. */
export const canAsk = (): boolean => Boolean(process.stdin.isTTY && process.stderr.isTTY);

/** Asks a question at the terminal. Only "yes" agrees; the end of the input and Ctrl-C mean no. */
export const confirmed = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // At the end of the input and after Ctrl-C no answer ever comes.
  const ended = once(terminal, "close").then(() => undefined);
  const answered = terminal.question(`${question} (yes/no) `).catch(() => undefined);
  const answer = await Promise.race([answered, ended]);
  terminal.close();
  // Without an answer the cursor is still behind the question.
  if (answer === undefined) process.stderr.write("\n");
  return answer === "yes";
};
