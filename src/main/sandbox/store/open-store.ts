import { appealSchema } from '../../../shared/sandbox/content.ts'
import { createSampleAppeals, DEFAULT_APPEALS } from '../appeals.ts'
import { DEFAULT_INDEXES, DEFAULT_RULES, DEFAULT_WATCHLISTS } from '../rules/defaults.ts'
import type { ResolvedSandboxOptions } from '../sandbox-options.ts'
import { type AppealStore, createAppealStore } from './appeal-store.ts'
import { type CallbackStore, createCallbackStore } from './callback-store.ts'
import { createIndexStore, type IndexStore } from './index-store.ts'
import { createKeyStore, type KeyStore } from './key-store.ts'
import { createGroupCommit, openDatabase } from './open-database.ts'
import { createRequestStore, type RequestStore } from './request-store.ts'
import { createRuleStore, type RuleStore } from './rule-store.ts'
import { createTaskStore, type TaskStore } from './task-store.ts'
import { createWatchlistStore, type WatchlistStore } from './watchlist-store.ts'

/** Everything the sandbox remembers. */
export interface SandboxStore {
  keys: KeyStore
  rules: RuleStore
  watchlists: WatchlistStore
  indexes: IndexStore
  appeals: AppealStore
  tasks: TaskStore
  requests: RequestStore
  callbacks: CallbackStore
  /** Calls back when everything written so far is committed, or could not be. */
  onCommitted(callback: (error: Error | null) => void): void
  close(): void
}

/** Opens the store that the options name, at that time. Throws `SANDBOX_UNAVAILABLE` where it cannot be used. */
export function openStore(options: ResolvedSandboxOptions, now: Date): SandboxStore {
  const database = openDatabase(options.databaseFile)
  const group = createGroupCommit(database)
  return {
    keys: createKeyStore(database, group, options.apiKeys),
    rules: createRuleStore(database, group, options.rules ?? DEFAULT_RULES),
    watchlists: createWatchlistStore(database, group, options.watchlists ?? DEFAULT_WATCHLISTS),
    indexes: createIndexStore(database, group, options.indexes ?? DEFAULT_INDEXES),
    appeals: createAppealStore(
      database,
      group,
      options.appeals ?? createSampleAppeals(DEFAULT_APPEALS).map((appeal) => appealSchema.parse(appeal)),
      now,
    ),
    tasks: createTaskStore(database, group, options.keepRequests),
    requests: createRequestStore(database, group, options.keepRequests),
    callbacks: createCallbackStore(database, group, options.keepRequests),
    onCommitted: group.onCommitted,
    close: () => {
      group.flush()
      database.close()
    },
  }
}
