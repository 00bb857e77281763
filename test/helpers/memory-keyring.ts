import type { LastingStore } from '../../src/main/engine/secrets/key-store.ts'

/** A system keyring that keeps its entries in memory, for tests. */
export interface MemoryKeyring extends LastingStore {
  readonly entries: Map<string, string>
  /** Why it neither returns nor stores keys, for example because it is locked; null if it works. */
  trouble: string | null
}

/** Creates an empty keyring. */
export function createMemoryKeyring(): MemoryKeyring {
  const entries = new Map<string, string>()
  const act = async <T>(make: () => T): Promise<T> => {
    if (keyring.trouble !== null) throw new Error(keyring.trouble)
    return make()
  }
  const keyring: MemoryKeyring = {
    place: 'keyring',
    entries,
    trouble: null,
    check: async () => {},
    get: (name) => act(() => entries.get(name) ?? null),
    set: (name, secret) => act(() => void entries.set(name, secret)),
    remove: (name) => act(() => void entries.delete(name)),
  }
  return keyring
}
