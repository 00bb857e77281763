import type { DatabaseSync } from 'node:sqlite'
import { appealSchema, type Rule, ruleSchema } from '../../../shared/sandbox/content.ts'
import { createSampleAppeals, DEFAULT_APPEALS } from '../appeals.ts'
import { DEFAULT_INDEXES, DEFAULT_RULES, DEFAULT_WATCHLISTS } from '../rules/defaults.ts'
import type { ResolvedSandboxOptions } from '../sandbox-options.ts'
import { createAppealStore } from './appeal-store.ts'
import { createCallbackStore } from './callback-store.ts'
import { createIndexStore } from './index-store.ts'
import { createKeyStore } from './key-store.ts'
import { createGroupCommit, type GroupCommit, openDatabase, seedOnce } from './open-database.ts'
import { createRequestStore } from './request-store.ts'
import { createTaskStore } from './task-store.ts'
import { createWatchlistStore } from './watchlist-store.ts'

/** Opens the store that the options name. Throws `SANDBOX_UNAVAILABLE` if it cannot be used. */
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
    /** Calls back once everything written so far is committed, or has failed. */
    onCommitted: group.onCommitted,
    close: (): void => {
      group.flush()
      database.close()
    },
  }
}

export interface SandboxStore extends ReturnType<typeof openStore> {}

/** Opens the moderation rules of the project. A store that never had any starts with `seedRules`. */
function createRuleStore(database: DatabaseSync, group: GroupCommit, seedRules: Rule[]) {
  const selectAll = database.prepare('SELECT document FROM rule ORDER BY rowid')
  const selectOne = database.prepare('SELECT document FROM rule WHERE rule_id = ?')
  const upsert = database.prepare(
    'INSERT INTO rule (rule_id, document) VALUES (?, ?) ON CONFLICT DO UPDATE SET document = excluded.document',
  )
  const remove = database.prepare('DELETE FROM rule WHERE rule_id = ?')

  const store = {
    /** In the order they were first added. */
    list: (): Rule[] => selectAll.all().map((row) => ruleSchema.parse(JSON.parse(String(row['document'])))),
    get: (ruleId: string): Rule | null => {
      const row = selectOne.get(ruleId)
      return row === undefined ? null : ruleSchema.parse(JSON.parse(String(row['document'])))
    },
    /** Adds the rule, or replaces the one with its id. */
    put: (rule: Rule): void => {
      group.writeNow(() => upsert.run(rule.rule_id, JSON.stringify(rule)))
    },
    /** False if there is no such rule. */
    remove: (ruleId: string): boolean => group.writeNow(() => remove.run(ruleId)).changes !== 0,
  }
  seedOnce(database, group, 'rules', () => seedRules.forEach(store.put))
  return store
}
