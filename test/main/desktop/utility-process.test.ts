import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startUtilityProcess } from '../../../src/main/desktop/utility-process.ts'
import { askSql } from '../../../src/main/engine/lookback/sql/ask-sql.ts'
import { SQL_PROCESS } from '../../../src/main/program-files.ts'
import { copyGolden } from '../../golden/answers.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

vi.mock('electron', () => import('./electron-stand-in.ts'))

/** A statement about a run of a golden workspace, in the process that the desktop app starts. */
async function ask(sql: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const workspace = join(createTemporaryFolder(), 'workspace')
  copyGolden('task-v1-sync', workspace)
  const runs = join(workspace, 'runs')
  const files = readdirSync(runs)
    .filter((file) => file.endsWith('.journal'))
    .slice(0, 1)
    .map((file) => join(runs, file))
  const rows: unknown[][] = []
  const total = await askSql({
    processUrl: SQL_PROCESS,
    startProcess: startUtilityProcess,
    files,
    sql,
    timeoutMs: 60_000,
    ...options,
    onRow: async (row) => void rows.push(row),
  })
  return { rows, total }
}

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'

test('the desktop app answers statements in a separate process', async () => {
  expect(await ask('SELECT 1 AS one, 2 AS two')).toEqual({
    rows: [
      ['one', 'two'],
      [1, 2],
    ],
    total: 1,
  })
  await expect(ask('SELECT absent FROM rows')).rejects.toThrow('no such column: absent')
})

test('a statement in it is ended at its time limit, and when nobody waits any more', async () => {
  await expect(ask(ENDLESS, { timeoutMs: 1_500 })).rejects.toThrow('was stopped')
  const controller = new AbortController()
  const asked = ask(ENDLESS, { signal: controller.signal })
  setImmediate(() => controller.abort(new Error('given up')))
  await expect(asked).rejects.toThrow('given up')
})
