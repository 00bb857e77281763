/** Whose key it is: one of the keys of a workspace's stored connection. */
interface KeyName {
  /** Folder of the workspace. */
  workspace: string
  /** Name of the connection. */
  connection: string
  /** Label of the key. */
  label: string
}

/** A key as it is kept. */
interface KeptKey {
  text: string
  /** The way to the service that it was typed for; it is sent on no other. */
  route: string
  /** Differs from that of every key that was kept before. */
  revision: string
}

/** Keeps the keys that persons typed into the window: those of a stored connection that name no variable. */
export interface KeyStore {
  /** The key of that name; null where none is kept. */
  read(name: KeyName): KeptKey | null
  /** Keeps a key in place of the one of its name. */
  write(name: KeyName, key: KeptKey): void
  /** Forgets a key; nothing happens where none is kept. */
  remove(name: KeyName): void
}

/** Keeps keys in the memory of this process. */
export function createSessionKeyStore(): KeyStore {
  const keys = new Map<string, KeptKey>()
  const toId = ({ workspace, connection, label }: KeyName) => JSON.stringify([workspace, connection, label])
  return {
    read: (name) => keys.get(toId(name)) ?? null,
    write: (name, key) => void keys.set(toId(name), key),
    remove: (name) => void keys.delete(toId(name)),
  }
}
