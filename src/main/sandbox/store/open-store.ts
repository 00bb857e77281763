import { DEFAULT_RULES } from '../rules/default-rules.ts'
import { DEFAULT_WATCHLISTS } from '../rules/default-watchlists.ts'
import type { ResolvedSandboxOptions } from '../sandbox-options.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeyStore, type KeyStore } from './key-store.ts'
import { openDatabase } from './open-database.ts'
import { createRuleStore, type RuleStore } from './rule-store.ts'
import { createTaskStore, type TaskStore } from './task-store.ts'
import { createWatchlistStore, type WatchlistStore } from './watchlist-store.ts'

/** Everything the sandbox remembers. */
export interface SandboxStore {
  keys: KeyStore
  rules: RuleStore
  watchlists: WatchlistStore
  tasks: TaskStore
  /** Calls back when everything written so far is committed, or could not be. */
  onCommitted(callback: (error: Error | null) => void): void
  close(): void
}

/** Opens the store that the options name. Throws `SANDBOX_UNAVAILABLE` where it cannot be used. */
export function openStore(options: ResolvedSandboxOptions): SandboxStore {
  const database = openDatabase(options.databaseFile)
  const group = createGroupCommit(database)
  return {
    keys: createKeyStore(database, group, options.apiKeys),
    rules: createRuleStore(database, group, options.rules ?? DEFAULT_RULES),
    watchlists: createWatchlistStore(database, group, options.watchlists ?? DEFAULT_WATCHLISTS),
    tasks: createTaskStore(database, group, options.keepRequests),
    onCommitted: group.onCommitted,
    close: () => {
      group.flush()
      database.close()
    },
  }
}
