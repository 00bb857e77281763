import type { DatabaseSync } from 'node:sqlite'
import { type Rule, ruleSchema } from '../../../shared/sandbox/content.ts'
import { type GroupCommit, seedOnce } from './open-database.ts'

/** Opens the moderation rules of the sandbox's project; a store that never had any starts with `seedRules`. */
export function createRuleStore(database: DatabaseSync, group: GroupCommit, seedRules: Rule[]) {
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
    /** Adds the rule, or replaces the one of its id. */
    put: (rule: Rule): void => {
      group.writeNow(() => upsert.run(rule.rule_id, JSON.stringify(rule)))
    },
    /** False where there is no such rule. */
    remove: (ruleId: string): boolean => group.writeNow(() => remove.run(ruleId)).changes !== 0,
  }
  seedOnce(database, group, 'rules', () => seedRules.forEach(store.put))
  return store
}
