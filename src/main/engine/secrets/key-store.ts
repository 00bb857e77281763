import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { KeyPlace, TypedKey } from '../../../shared/plan/stored-connection.ts'

/** The owner of a key: one of the keys of a workspace's stored connection. */
export interface KeyName {
  workspace: string
  connection: string
  label: string
}

export interface KeptKey {
  text: string
  /** The way to the service for which it was typed; it is sent on no other. */
  route: string
  /** Differs from that of every key stored before. */
  revision: string
}

/** Where the next key is stored, and why it may not last. */
export interface KeyStorage {
  place: KeyPlace
  /** Why keys last only for the session; null if they last. */
  reason: string | null
  /** The error behind the reason. */
  cause?: unknown
}

/**
 * A store of the system that outlives this process, such as its keyring. Secrets are texts under names. Every
 * failure rejects with a reason that a person can read; {@link NoLastingStore} if this machine has none.
 */
export interface LastingStore {
  readonly place: Exclude<KeyPlace, 'session'>
  /** Rejects if nothing can be stored. Never asks a person to unlock anything. */
  check(): Promise<void>
  /** The secret with that name; null if there is none. */
  get(name: string): Promise<string | null>
  /** Stores a secret, replacing one with the same name. */
  set(name: string, secret: string): Promise<void>
  /** Does nothing if there is none. */
  remove(name: string): Promise<void>
}

/** This machine has no lasting store, or none that can be reached. */
export class NoLastingStore extends Error {}

/** Stores keys typed for stored connections, each for the way to the service for which it was typed. */
export interface KeyStore extends ReturnType<typeof createKeyStore> {}

/**
 * Stores keys in a lasting store, and in this process's memory what that does not accept. `absence` says why
 * there is no lasting store.
 */
export function createKeyStore(lasting: LastingStore | { absence: string }) {
  const store = 'absence' in lasting ? null : lasting
  const session = new Map<string, KeptKey>()
  /** Contents of the lasting store as last written or read: some systems ask a person at each reading. */
  const known = new Map<string, KeptKey>()
  /** Pending reads of the lasting store: other readers wait for the same answer. */
  const reads = new Map<string, Promise<string | null>>()
  return {
    /** Where the next key is stored unless that fails. */
    place: (store?.place ?? 'session') as KeyPlace,
    /** Where the next key will be stored. */
    async describe(): Promise<KeyStorage> {
      if ('absence' in lasting) return { place: 'session', reason: lasting.absence }
      try {
        await lasting.check()
        return { place: lasting.place, reason: null }
      } catch (error) {
        return { place: 'session', reason: toThrownText(error) }
      }
    },
    /**
     * The key that a connection lists as typed; null if this process cannot reach it. Throws `NO_API_KEY` if
     * its store refuses, such as a locked keyring.
     */
    async get(name: KeyName, typed: TypedKey): Promise<KeptKey | null> {
      try {
        return known.get(toEntry(name, typed)) ?? (await read(name, typed))
      } catch (error) {
        const { label, connection } = name
        throw SluiceError.because(error, { id: 'key_locked', label, connection })
      }
    },
    /**
     * Like `get`, but asks the store even for a key it gave out before. Throws `BAD_USAGE` if the store
     * refuses, in which case it would not delete the key either.
     */
    async getToRemove(name: KeyName, typed: TypedKey): Promise<KeptKey | null> {
      const entry = toEntry(name, typed)
      try {
        return (await read(name, typed)) ?? known.get(entry) ?? null
      } catch (error) {
        throw SluiceError.because(error, { id: 'key_not_removed', entry, place: typed.place })
      }
    },
    /** Stores a key in its own entry, replacing no other: in the lasting store, or else for the session. */
    async set(name: KeyName, key: KeptKey): Promise<KeyStorage> {
      const entry = toEntry(name, key)
      try {
        if ('absence' in lasting) throw new NoLastingStore(lasting.absence)
        await lasting.set(entry, JSON.stringify(key))
        known.set(entry, key)
        return { place: lasting.place, reason: null }
      } catch (error) {
        session.set(entry, key)
        return { place: 'session', reason: toThrownText(error), cause: error }
      }
    },
    /** Deletes a key. Returns whether it is gone; it is not if this process cannot reach its store. */
    async remove(name: KeyName, typed: TypedKey): Promise<boolean> {
      const entry = toEntry(name, typed)
      session.delete(entry)
      known.delete(entry)
      if (typed.place === 'session') return true
      if (typed.place !== store?.place) return false
      return store.remove(entry).then(
        () => true,
        () => false,
      )
    },
  }

  /** Rejects if the store refuses to give the key out. */
  async function read(name: KeyName, { place, revision }: TypedKey): Promise<KeptKey | null> {
    const entry = toEntry(name, { revision })
    if (place === 'session') return session.get(entry) ?? null
    if (place !== store?.place) return null
    const key = parseKey(await readOnce(entry, store))
    if (key?.revision !== revision) return null
    known.set(entry, key)
    return key
  }

  /** Null if there is none, or this machine has no such store. */
  function readOnce(entry: string, store: LastingStore): Promise<string | null> {
    const asked = reads.get(entry)
    if (asked !== undefined) return asked
    const read = store
      .get(entry)
      .catch((error: unknown) => {
        if (error instanceof NoLastingStore) return null
        throw error
      })
      .finally(() => reads.delete(entry))
    reads.set(entry, read)
    return read
  }
}

/**
 * The name of a key in its store, where a person may come across it. The revision gives each key its own
 * entry, so that a key typed in two places at once is never overwritten, whatever the names contain.
 */
function toEntry({ workspace, connection, label }: KeyName, { revision }: { revision: string }): string {
  return `${connection}/${label} in ${workspace} (${revision})`
}

/** Reads a stored key; null if the text is another program's. */
function parseKey(text: string | null): KeptKey | null {
  try {
    const { text: key, route, revision } = JSON.parse(text ?? 'null') ?? {}
    const isKey = [key, route, revision].every((part) => typeof part === 'string')
    return isKey ? { text: key, route, revision } : null
  } catch {
    return null
  }
}
