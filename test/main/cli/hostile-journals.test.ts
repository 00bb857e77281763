import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { deflateRawSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../src/main/bridge/settings-store.ts'
import { openJournal, openJournalReader } from '../../../src/main/engine/journal/journal.ts'
import { readRunRecord } from '../../../src/main/engine/journal/run-record.ts'
import { readStoredBody } from '../../../src/main/engine/journal/stored-bodies.ts'
import { Catalogue } from '../../../src/main/engine/lookback/catalogue/catalogue.ts'
import { InboxReader, openInbox } from '../../../src/main/engine/receiver/inbox.ts'
import { readConnections } from '../../../src/main/engine/workspace/connections.ts'
import { toJournalFile, toVerdictsFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createTestEngine } from '../../helpers/test-engine.ts'
import { openRun, writeRun } from '../../helpers/write-run.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'

const GOOD = '20261101-000000-000bbbb'
const ENDLESS = '20261102-000000-000cccc'
const COPIED = '20261103-000000-000dddd'

/** A view with endless rows in place of a table. */
const toEndless = (table: string, columns: string) =>
  `DROP TABLE ${table}; CREATE VIEW ${table} AS
   WITH RECURSIVE endless(${columns}) AS (
     SELECT ${columns.replaceAll(/\w+/g, '1')} UNION ALL SELECT ${columns} FROM endless
   ) SELECT * FROM endless WHERE ${columns.split(', ')[0]} = 2`

function execute(file: string, sql: string): void {
  const db = new DatabaseSync(file, { defensive: false })
  try {
    db.exec(sql)
  } finally {
    db.close()
  }
}

function createWorkspace(): string {
  const workspace = createTemporaryFolder()
  for (const runId of [GOOD, ENDLESS]) writeRun(workspace, { runId })
  copyFileSync(toJournalFile(workspace, GOOD), toJournalFile(workspace, COPIED))
  return workspace
}

test('one hostile and one renamed journal hide no other runs, and both are named', async () => {
  const workspace = createWorkspace()
  execute(toJournalFile(workspace, ENDLESS), toEndless('run', 'run_id, state'))
  const sluice = (...args: string[]) =>
    spawnSluice(args, {
      workspace,
      fromSources: true,
      onStart: (child) => onTestFinished(() => void child.kill('SIGKILL')),
    })
  const [listed, shown, refused, renamed] = await Promise.all([
    sluice('runs', '--json'),
    sluice('show', 'latest', '--json'),
    sluice('show', ENDLESS),
    sluice('show', COPIED),
  ])
  expect(listed).toMatchObject({ code: 0 })
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { run_id: GOOD, state: 'completed' },
    { run_id: COPIED, unreadable: expect.stringContaining(`holds the run ${GOOD}`) },
    { run_id: ENDLESS, unreadable: expect.stringContaining('it has the view run') },
  ])
  expect(listed.stderr).toContain(`run ${ENDLESS} cannot be read: `)
  expect(listed.stderr).toContain(
    `${toJournalFile(workspace, ENDLESS)} is not a file of Sluice: it has the view run`,
  )
  expect(listed.stderr).toContain(`run ${COPIED} cannot be read: `)
  expect(listed.stderr).toContain(`${toJournalFile(workspace, COPIED)} holds the run ${GOOD}`)
  expect(shown).toMatchObject({ code: 0 })
  expect(JSON.parse(shown.stdout)).toMatchObject({ run_id: GOOD })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('it has the view run')
  expect(renamed).toMatchObject({ code: 2, stdout: '' })
  expect(renamed.stderr).toContain(`Rename it to ${GOOD}.journal`)
}, 120_000)

test.each([ENDLESS, COPIED])(
  'a journal that cannot be read can be deleted by its name: %s',
  async (runId) => {
    const workspace = createWorkspace()
    execute(toJournalFile(workspace, ENDLESS), toEndless('run', 'run_id, state'))
    const unconfirmed = await runInProcess(['delete', runId], { workspace })
    expect(unconfirmed.code).toBe(2)
    expect(unconfirmed.stderr).toContain(`run ${runId}, which cannot be read (`)
    expect(existsSync(toJournalFile(workspace, runId))).toBe(true)
    expect(await runInProcess(['delete', runId, '--yes'], { workspace })).toMatchObject({ code: 0 })
    expect(existsSync(toJournalFile(workspace, runId))).toBe(false)
    expect(existsSync(toJournalFile(workspace, GOOD))).toBe(true)
  },
)

test('a hostile journal can be deleted', async () => {
  const workspace = createWorkspace()
  execute(toJournalFile(workspace, ENDLESS), toEndless('facet', 'kind, value, n'))
  const engine = createTestEngine(workspace)
  onTestFinished(() => engine.close())
  expect((await engine.runs.listRuns()).unreadable.map(({ runId }) => runId)).toContain(ENDLESS)
  await engine.runs.deleteRun(ENDLESS)
  expect((await engine.runs.listRuns()).unreadable.map(({ runId }) => runId)).not.toContain(ENDLESS)
})

test.each([
  ['a view', toEndless('result', 'row, state'), 'the view result'],
  [
    'a trigger',
    'CREATE TRIGGER resent AFTER UPDATE ON run BEGIN DELETE FROM result; END',
    'the trigger resent',
  ],
  ['a virtual table', 'CREATE VIRTUAL TABLE words USING fts5(text)', 'the virtual table words'],
  ['a table of its own', 'CREATE TABLE other (id INTEGER PRIMARY KEY)', 'the table other'],
  [
    'an index over an expression',
    'CREATE INDEX slow ON result (instr(hex(zeroblob(row)), message))',
    'the index slow',
  ],
])('a journal with %s is opened neither for reading nor for writing', (_, sql, named) => {
  const workspace = createWorkspace()
  const file = toJournalFile(workspace, ENDLESS)
  execute(file, sql)
  for (const open of [openJournalReader, openJournal]) {
    expect(() => open(file)).toThrow(`${file} is not a file of Sluice: it has `)
    expect(() => open(file)).toThrow(named)
  }
})

/** Changes the stored definition of a journal's table. */
const toRemade = (table: string, from: string, to: string) =>
  `PRAGMA writable_schema = 1;
   UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = '${table}'`

test.each([
  [
    'a column that is computed without end',
    toRemade(
      'run',
      'read_as TEXT',
      'read_as TEXT, slow TEXT AS (instr(hex(zeroblob(400000000)), hex(zeroblob(200000000)) || 1))',
    ),
    'its table run is not the one that Sluice makes',
  ],
  [
    'a check that is computed',
    toRemade('run', 'superseded_by TEXT', 'superseded_by TEXT CHECK (length(hex(zeroblob(9))) = 18)'),
    'its table run is not the one that Sluice makes',
  ],
  [
    'a default that is computed',
    toRemade('second', 'DEFAULT 0', 'DEFAULT (length(hex(zeroblob(9))))'),
    'its table second is not the one that Sluice makes',
  ],
  [
    'a table without types',
    toRemade('facet', 'STRICT, ', ''),
    'its table facet is not the one that Sluice makes',
  ],
  [
    'an index over other columns',
    'DROP INDEX result_by_answer; CREATE INDEX result_by_answer ON result (answer)',
    'its index result_by_answer is not the one that Sluice makes',
  ],
  ['a table too few', 'DROP TABLE row_place', 'it lacks the table row_place'],
  ['an index too few', 'DROP INDEX problem_by_row', 'it lacks the index problem_by_row'],
])('a journal with %s is opened neither for reading nor for writing', (_, sql, said) => {
  const workspace = createWorkspace()
  const file = toJournalFile(workspace, ENDLESS)
  execute(file, sql)
  for (const open of [openJournalReader, openJournal]) {
    expect(() => open(file)).toThrow(`${file} is not a file of Sluice: ${said}`)
  }
})

test.each([
  ['plan', '{'],
  ['plan', '{"version":1}'],
  ['columns', 'text'],
  ['columns', '7'],
  ['header', '{"0":"text"}'],
  ['source_fingerprint', '[]'],
  ['run_token', '../../connections'],
  ['run_token', ''],
  ['parent_run_id', '../../elsewhere/run-1'],
  ['superseded_by', '/tmp/run-1'],
  ['unknown_taken_by', 'run-1/../run-2 (deleted)'],
  ['invalid_taken_by', '..'],
])('a journal whose %s is %s is refused by its name, not as a bug in Sluice', (column, value) => {
  const workspace = createWorkspace()
  const file = toJournalFile(workspace, ENDLESS)
  execute(file, `UPDATE run SET ${column} = '${value}'`)
  const db = openJournalReader(file)
  onTestFinished(() => db.close())
  expect(() => readRunRecord(db)).toThrow(
    expect.objectContaining({
      code: 'WORKSPACE_UNUSABLE',
      message: expect.stringContaining(`${file}: its ${column} is damaged`),
    }),
  )
})

test('a journal with a view that claims to be a table is not opened', () => {
  const workspace = createWorkspace()
  const file = toJournalFile(workspace, ENDLESS)
  execute(
    file,
    `${toEndless('result', 'row, state')}; PRAGMA writable_schema = 1;
     UPDATE sqlite_schema SET type = 'table', rootpage = 2 WHERE name = 'result'`,
  )
  for (const open of [openJournalReader, openJournal]) {
    expect(() => open(file)).toThrow(
      `run ${ENDLESS} cannot be read from ${file}: malformed database schema (result)`,
    )
  }
})

test('a stored answer that is damaged, or unpacks to more than is ever stored, is not read', () => {
  const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024))
  for (const content of [bomb, Buffer.from('no deflate')]) {
    expect(() => readStoredBody(null, content, 70_000_000)).toThrow()
  }
})

test("another program's database is not made into a journal", async () => {
  const workspace = createWorkspace()
  const file = toJournalFile(workspace, '20261104-000000-000ffff')
  execute(file, 'CREATE TABLE address (id INTEGER PRIMARY KEY, text TEXT)')
  const result = await runInProcess(['runs'], { workspace })
  expect(result.stderr).toContain(`${file} is not a file of Sluice: it has the table address`)
  const db = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => db.close())
  expect(db.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'address' }])
})

test('a hostile inbox and hostile verdicts are refused by name', async () => {
  const workspace = createWorkspace()
  const inbox = join(workspace, 'inbox')
  openInbox(inbox).close()
  execute(inbox, toEndless('callback', 'id, run'))
  expect(() => openInbox(inbox)).toThrow(`${inbox} is not a file of Sluice: it has the view callback`)
  const verdicts = toVerdictsFile(workspace, GOOD)
  execute(verdicts, 'CREATE TABLE verdict (row, rule)')
  execute(verdicts, `${toEndless('verdict', 'row, rule')}; PRAGMA user_version = 1`)
  const result = await runInProcess(['evaluate', GOOD, '--verdicts'], { workspace })
  expect(result).toMatchObject({ code: 2 })
  expect(result.stderr).toContain(`${verdicts} is not a file of Sluice: it has the view verdict`)
})

test.each([
  [
    'hostile',
    (inbox: string) => execute(inbox, toEndless('callback', 'id, run')),
    'it has the view callback',
  ],
  ['damaged', (inbox: string) => writeFileSync(inbox, 'no database'.repeat(1_000)), 'file is not a database'],
])('a %s inbox does not block the results, and is named', async (_, damage, said) => {
  onlyInLongForm()
  const workspace = createWorkspace()
  const journal = openRun(workspace, { runId: GOOD })
  journal.transact('power', () => journal.db.exec("UPDATE run SET callback_base = 'https://example.com/'"))
  journal.close()
  const inbox = join(workspace, 'inbox')
  openInbox(inbox).close()
  damage(inbox)
  for (const args of [
    ['runs', '--json'],
    ['show', GOOD, '--json'],
  ]) {
    const result = await runInProcess(args, { workspace })
    expect({ args, ...result }).toMatchObject({ code: 0, stdout: expect.stringContaining(GOOD) })
    expect(result.stderr).toContain('Late callbacks are not processed: ')
    expect(result.stderr).toContain(inbox)
    expect(result.stderr).toContain(said)
  }
  const engine = createTestEngine(workspace)
  onTestFinished(() => engine.close())
  await expect(engine.receiver.readCallbackOverview()).rejects.toThrow(inbox)
})

test('a hostile catalogue is rebuilt', async () => {
  const workspace = createTemporaryFolder()
  writeRun(workspace, { runId: GOOD })
  const list = async () => (await new Catalogue(workspace).list({}, [])).runs.map(({ run_id: id }) => id)
  expect(await list()).toEqual([GOOD])
  execute(join(workspace, 'catalogue'), 'CREATE VIEW other AS SELECT 1')
  expect(await list()).toEqual([GOOD])
  const db = new DatabaseSync(join(workspace, 'catalogue'), { readOnly: true })
  onTestFinished(() => db.close())
  expect(db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all()).toEqual([])
})

test('a file that is not a database blocks nobody', async () => {
  const workspace = createWorkspace()
  writeFileSync(toJournalFile(workspace, ENDLESS), 'no database'.repeat(1_000))
  const result = await runInProcess(['runs', '--json'], { workspace })
  expect(result).toMatchObject({ code: 0 })
  const [run, ...others] = JSON.parse(result.stdout)
  expect(run).toMatchObject({ run_id: GOOD, state: 'completed' })
  expect(others).toMatchObject([{ run_id: COPIED }, { run_id: ENDLESS, unreadable: expect.any(String) }])
  expect(result.stderr).toContain(`run ${ENDLESS} cannot be read`)
})

const GOOD_FILES = ['annotations', 'findings', 'verdicts', 'exports', 'labelling'].map(
  (one) => `runs/${GOOD}.${one}`,
)
const PIPES = [`runs/${ENDLESS}.journal`, ...GOOD_FILES, 'catalogue', 'baselines.json', 'mappings.json']

test.skipIf(process.platform === 'win32')(
  'pipes in place of files block nobody',
  async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    writeRun(workspace, { runId: GOOD })
    for (const path of PIPES) execFileSync('mkfifo', [join(workspace, path)])
    const sluice = (...args: string[]) =>
      spawnSluice(args, {
        workspace,
        fromSources: true,
        onStart: (child) => onTestFinished(() => void child.kill('SIGKILL')),
      })
    const [listed, shown] = await Promise.all([sluice('runs', '--json'), sluice('show', GOOD, '--json')])
    expect(listed).toMatchObject({ code: 0 })
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { run_id: GOOD },
      { run_id: ENDLESS, unreadable: expect.stringContaining('is not a regular file') },
    ])
    expect(listed.stderr).toContain(`${join(workspace, PIPES[0] ?? '')} is not a regular file`)
    expect(shown).toMatchObject({ code: 0 })
  },
  120_000,
)

test.skipIf(process.platform === 'win32')('a pipe in place of a workspace file is named', async () => {
  const workspace = createTemporaryFolder()
  for (const name of ['connections.json', 'inbox', 'settings.json']) {
    execFileSync('mkfifo', [join(workspace, name)])
  }
  const refusal = 'is not a regular file'
  expect(() => readConnections(workspace)).toThrow(refusal)
  expect(() => new InboxReader(workspace).readLastIds()).toThrow(refusal)
  expect(() => openInbox(join(workspace, 'inbox'))).toThrow(refusal)
  expect(readSettings(workspace).damage).toContain(refusal)
})
