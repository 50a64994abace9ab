import { Level } from "level";

/** No key of ours or of dynalite's begins before the first or behind the last. */
const [FIRST_KEY, LAST_KEY] = ["\u0000", "\u{10ffff}"];

/**
 * LevelDB keeps what was deleted or replaced in its files until it writes them anew, which it may not do
 * for days: here it does so at once.
 */
export const eraseTraces = async (level: Level<string, unknown>): Promise<void> => {
  // What is in memory goes into a file as it is, deleted or not.
  await level.compactRange(FIRST_KEY, LAST_KEY);
  // A file is written anew only together with newer ones of the same keys.
  await level.batch([FIRST_KEY, LAST_KEY].map((key) => ({ type: "del", key })));
  await level.compactRange(FIRST_KEY, LAST_KEY);
};

/** The same for a folder that nobody has open. */
export const eraseTracesIn = async (directory: string): Promise<void> => {
  const level = new Level<string, unknown>(directory);
  await level.open();
  await eraseTraces(level);
  await level.close();
};
