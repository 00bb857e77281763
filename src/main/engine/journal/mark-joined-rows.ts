import type { DatabaseSync } from '../workspace/sqlite.ts'

/**
 * Marks the rows whose surplus cells the plan's fix joins (`mapping/join-cells.ts`). Earlier versions joined
 * those of every row with text beyond its columns, according to the plan alone; the results of that stay. The
 * caller has a transaction open.
 */
export function markJoinedRows(db: DatabaseSync): void {
  const plan = db.prepare('SELECT plan FROM run').get()?.['plan']
  if (plan === undefined) return
  const { fixes = [] } = JSON.parse(String(plan)) as {
    fixes?: { kind: string; from: number; with: string }[]
  }
  const fix = fixes.find(({ kind }) => kind === 'join_cells')
  if (fix === undefined) return
  const page = db.prepare('SELECT id, cells, kinds FROM row WHERE id > ? ORDER BY id LIMIT 1000')
  const mark = db.prepare('UPDATE row SET kinds = ? WHERE id = ?')
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
    for (const { id, cells, kinds } of rows) {
      const own = JSON.parse(String(cells)) as string[]
      if (!own.slice(fix.from).some((cell) => cell !== '')) continue
      const surplus = own.slice(fix.from).map((_, index) => fix.from + index)
      const added = `#join${fix.from - 1}:${surplus.join(',')}:${encodeURIComponent(fix.with)}`
      mark.run((kinds === null ? '' : String(kinds)) + added, Number(id))
    }
  }
}
