/**
 * Runs pieces of work one after the other, in the order of asking. Local adapters use it to write
 * first and change their memory after, with nobody seeing the state between the two.
 */
export const createOneAtATime = (): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    // Whoever asked gets the failure; the next piece of work starts all the same.
    last = result.catch(() => undefined);
    return result;
  };
};
