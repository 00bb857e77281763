import type { DatabaseSync } from 'node:sqlite'

/** Puts the writes of one turn of the event loop into one transaction. */
export interface GroupCommit {
  /** Writes at once, inside the turn's transaction. */
  write<T>(work: () => T): T
  /** Calls back when everything written so far is committed, or could not be. */
  onCommitted(callback: (error: Error | null) => void): void
  /** Commits now. Throws where the database cannot. */
  flush(): void
}

/** Creates the one writer of a database. An answer must leave only after its writes are committed. */
export function createGroupCommit(database: DatabaseSync): GroupCommit {
  const begin = database.prepare('BEGIN')
  const commit = database.prepare('COMMIT')
  let isOpen = false
  let waiting: ((error: Error | null) => void)[] = []

  /** Returns why it failed, where it did, after telling everyone who waits. */
  const commitGroup = (): Error | null => {
    if (!isOpen) return null
    isOpen = false
    const callbacks = waiting
    waiting = []
    let failure: Error | null = null
    try {
      commit.run()
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      if (database.isTransaction) database.exec('ROLLBACK')
    }
    for (const callback of callbacks) callback(failure)
    return failure
  }

  return {
    write: (work) => {
      if (!isOpen) {
        begin.run()
        isOpen = true
        setImmediate(commitGroup)
      }
      return work()
    },
    onCommitted: (callback) => {
      if (isOpen) waiting.push(callback)
      else callback(null)
    },
    flush: () => {
      const failure = commitGroup()
      if (failure !== null) throw failure
    },
  }
}
