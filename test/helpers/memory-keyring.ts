import type { LastingStore } from '../../src/main/engine/secrets/key-store.ts'

/** A keyring of the system that keeps its entries in memory, for tests of what uses one. */
export interface MemoryKeyring extends LastingStore {
  readonly entries: Map<string, string>
  /** Why it gives nothing out and takes nothing, such as that it is locked; null while it does. */
  trouble: string | null
}

/** Makes an empty one. */
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
