import { expect, test } from 'vitest'
import { openJournal } from '../../../../src/main/engine/journal/journal.ts'
import { markJoinedRows } from '../../../../src/main/engine/journal/mark-joined-rows.ts'
import { MIGRATIONS } from '../../../../src/main/engine/journal/migrations.ts'
import { joinCells } from '../../../../src/main/engine/mapping/join-cells.ts'
import { toHalf } from '../../../../src/main/engine/mapping/split-row.ts'
import { insertTestRun, openTestJournal } from './test-journal.ts'

test('rows that an earlier version joined by nothing but the plan stay joined, and the others unchanged', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const { db, file } = journal
  const fixes = JSON.stringify([{ kind: 'join_cells', from: 2, with: '; ' }])
  db.prepare("UPDATE run SET plan = json_set(plan, '$.fixes', json(?))").run(fixes)
  const add = db.prepare('INSERT INTO row (id, cells, item, kinds) VALUES (?, ?, ?, ?)')
  add.run(1, '["u1","a","b","c"]', 1, null)
  add.run(2, '["u2","d","",""]', 2, null)
  add.run(3, '["u3","e","f"]', 3, 'ttt#text')
  db.exec(`DROP TABLE row_key; DROP TABLE try_answer; DROP TABLE session; DROP TABLE earlier; DROP INDEX row_joined;
    ALTER TABLE second DROP COLUMN succeeded_duration;
    ALTER TABLE run DROP COLUMN earlier_fixes;
    PRAGMA user_version = ${MIGRATIONS.indexOf(markJoinedRows)}`)
  journal.close()
  const again = openJournal(file)
  const rows = again.prepare('SELECT id, cells, kinds FROM row ORDER BY id').all()
  again.close()
  const joined = rows.map(({ cells, kinds }) => joinCells(JSON.parse(String(cells)), String(kinds ?? '')))
  expect(joined).toEqual([
    ['u1', 'a; b; c', '', ''],
    ['u2', 'd', '', ''],
    ['u3', 'e; f', ''],
  ])
  expect(rows.map(({ id, kinds }) => toHalf(Number(id), kinds === null ? null : String(kinds)))).toEqual([
    null,
    null,
    { content: 'text_data', of: 3 },
  ])
})
