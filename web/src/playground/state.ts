// A tiny store: one value, replaced as a whole, and those who want to know.

/** A value and its subscribers. */
export interface Store<State> {
  get(): State;
  /** Merges a change; subscribers hear of it at once, if anything changed. */
  set(change: Partial<State>): void;
  /** Calls back after each change. Returns a function that ends this. */
  subscribe(listener: (state: State, before: State) => void): () => void;
}

/** Makes a store. */
export function store<State extends object>(initial: State): Store<State> {
  let state = initial;
  const listeners = new Set<(state: State, before: State) => void>();
  return {
    get: () => state,
    set(change) {
      const before = state;
      const keys = Object.keys(change) as (keyof State)[];
      if (keys.every((key) => Object.is(change[key], state[key]))) return;
      state = { ...state, ...change };
      for (const listener of [...listeners]) listener(state, before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
