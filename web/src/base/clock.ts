// What calls back later; a test's clock stands still.

export interface Clock {
  after(ms: number, f: () => void): () => void; // returns what cancels it
}

export const browserClock: Clock = {
  after: (ms, f) => {
    const id = setTimeout(f, ms);
    return () => clearTimeout(id);
  },
};
