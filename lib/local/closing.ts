/** Closes what was opened, the last first. */
export interface Closing {
  add(close: () => Promise<void>): void;
  close(): Promise<void>;
}

export const createClosing = (): Closing => {
  const closers: (() => Promise<void>)[] = [];
  return {
    add(close) {
      closers.unshift(close);
    },
    async close() {
      for (const close of closers.splice(0)) await close();
    },
  };
};
