import type { DeadLetters, HeldLetter } from "../platform/ports/dead-letters.ts";

/** The dead letters of several queues as those of one: each is settled where it is held. */
export const joinDeadLetters = (all: readonly DeadLetters[]): DeadLetters => {
  const holders = new WeakMap<HeldLetter, DeadLetters>();

  const holderOf = (letter: HeldLetter): DeadLetters => {
    const holder = holders.get(letter);
    if (!holder) throw new Error("the dead letter was not held here");
    return holder;
  };

  return {
    async hold() {
      const held = await Promise.all(
        all.map(async (each) => {
          const letters = await each.hold();
          for (const letter of letters) holders.set(letter, each);
          return letters;
        }),
      );
      return held.flat();
    },
    async letGo(letters) {
      await Promise.all(
        all.map((each) => each.letGo(letters.filter((letter) => holderOf(letter) === each))),
      );
    },
    async count() {
      const counts = await Promise.all(all.map((each) => each.count()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    sendBack: (letter) => holderOf(letter).sendBack(letter),
    remove: (letter) => holderOf(letter).remove(letter),
  };
};
