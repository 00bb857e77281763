import { appealSchema } from '../../../shared/sandbox/content.ts'
import { createSampleAppeals, DEFAULT_APPEALS } from '../appeals.ts'
import { DEFAULT_INDEXES, DEFAULT_RULES, DEFAULT_WATCHLISTS } from '../rules/defaults.ts'
import type { ResolvedSandboxOptions } from '../sandbox-options.ts'
import { createAppealStore } from './appeal-store.ts'
import { createCallbackStore } from './callback-store.ts'
import { createIndexStore } from './index-store.ts'
import { createKeyStore } from './key-store.ts'
import { createGroupCommit, openDatabase } from './open-database.ts'
import { createRequestStore } from './request-store.ts'
import { createRuleStore } from './rule-store.ts'
import { createTaskStore } from './task-store.ts'
import { createWatchlistStore } from './watchlist-store.ts'

/** Opens the store that the options name, at that time. Throws `SANDBOX_UNAVAILABLE` where it cannot be used. */
export function openStore(options: ResolvedSandboxOptions, now: Date) {
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
    /** Calls back when everything written so far is committed, or could not be. */
    onCommitted: group.onCommitted,
    close: (): void => {
      group.flush()
      database.close()
    },
  }
}

/** Everything the sandbox remembers. */
export interface SandboxStore extends ReturnType<typeof openStore> {}
