import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = 'post_id,user_id,text_data,truth\np1,u1,win a free prize now,spam\np2,u1,see you at lunch,ham\n'
/** Ids that the service does not know yet. */
const ANEW = ['--set', 'post_id={{run}}-{{row}}']
const NOTES = 'what I noted by hand\n'

/** A run, and files of a person next to it. */
async function setUp() {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const source = writeSource(folder, 'posts.csv', ROWS)
  const sluiceIn = (workspace: string, ...args: string[]) =>
    runInProcess(args, { workspace: join(folder, workspace), env: { SLUICE_API_KEY: sandbox.key } })
  const sluice = (...args: string[]) => sluiceIn('workspace', ...args)
  const sending = ['task', source, '--base-url', sandbox.baseUrl]
  const sent = await sluice(...sending, '--json')
  const at = (name: string) => join(folder, name)
  const note = (name: string) => {
    writeFileSync(at(name), NOTES)
    return at(name)
  }
  return {
    sandbox,
    source,
    sending,
    sluice,
    sluiceIn,
    at,
    note,
    runId: String(JSON.parse(sent.stdout).run_id),
  }
}

const LABELS = ['--label', 'truth', '--positive', 'spam=Likely spam']

describe('an existing file', () => {
  it('is not replaced by a command unless Sluice wrote it or --overwrite is given', async () => {
    const { sluice, note, runId } = await setUp()
    const commands: [name: string, toArgs: (file: string) => string[]][] = [
      ['results.csv', (file) => ['export', runId, file]],
      ['results.batch-input.jsonl.gz', (file) => ['export', runId, file]],
      ['report.html', (file) => ['report', runId, file]],
      ['sample.csv', (file) => ['sample', runId, file, '--size', '1']],
      ['evaluated.csv', (file) => ['evaluate', runId, ...LABELS, '--export', file]],
      ['changed.csv', (file) => ['compare', runId, runId, '--by', 'row', '--export', file]],
    ]
    for (const [name, toArgs] of commands) {
      const file = note(name)
      const refused = await sluice(...toArgs(file))
      expect([refused.code, refused.stderr], name).toEqual([2, expect.stringContaining('--overwrite')])
      expect(refused.stderr).toContain('exists, and was not written from this workspace')
      expect(readFileSync(file, 'utf8')).toBe(NOTES)
      expect(await sluice(...toArgs(file), '--overwrite'), name).toMatchObject({ code: 0 })
      expect(readFileSync(file, 'latin1')).not.toContain(NOTES)
    }
  })

  it('is refused before anything is sent', async () => {
    onlyInLongForm()
    const { sandbox, sending, sluice, note, runId } = await setUp()
    const file = note('results.csv')
    const before = (await sandbox.requests()).length
    for (const args of [
      [...sending, '--export', file],
      ['retry', runId, '--export', file],
    ]) {
      const refused = await sluice(...args)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--overwrite')])
    }
    const errors = await sluice('export', runId, `${file}.new.csv`, '--errors', file)
    expect([errors.code, errors.stderr]).toEqual([2, expect.stringContaining('--overwrite')])
    expect(await sandbox.requests()).toHaveLength(before)
    expect(readFileSync(file, 'utf8')).toBe(NOTES)
    expect(await sluice(...sending, ...ANEW, '--export', file, '--overwrite')).toMatchObject({ code: 0 })
    expect(await sluice(...sending, ...ANEW, '--export', file)).toMatchObject({ code: 0 })
  })

  it('is replaced as before if the workspace wrote it, also under another name', async () => {
    onlyInLongForm()
    const { sluice, at, runId } = await setUp()
    for (const name of ['a.csv', 'a.jsonl.gz', 'a.xlsx', 'a.parquet', 'a.batch-output.jsonl', 'a.html']) {
      const command = name.endsWith('.html') ? 'report' : 'export'
      for (let time = 1; time <= 2; time += 1)
        expect(await sluice(command, runId, at(name)), name).toMatchObject({ code: 0 })
      copyFileSync(at(name), at(`copy-of-${name}`))
      expect(await sluice(command, runId, at(`copy-of-${name}`)), name).toMatchObject({ code: 0 })
    }
  })

  it('is refused if it may hold what a person added: an edited copy of an export, and one of another workspace', async () => {
    const { sending, sluice, sluiceIn, at, runId } = await setUp()
    await sluiceIn('another', ...sending, '--export', at('other.csv'))
    await sluice('export', runId, at('a.csv'))
    await sluice('export', runId, at('a.jsonl'))
    writeFileSync(at('labels.csv'), readFileSync(at('a.csv'), 'utf8').replace('ham', 'spam'))
    writeFileSync(at('labels.jsonl'), readFileSync(at('a.jsonl'), 'utf8').replace('"ham"', '"spam"'))
    for (const name of ['labels.csv', 'labels.jsonl', 'other.csv']) {
      const before = readFileSync(at(name), 'utf8')
      const refused = await sluice('export', runId, at(name))
      expect([refused.code, refused.stderr], name).toEqual([2, expect.stringContaining('--overwrite')])
      expect(refused.stderr).toContain('was not written from this workspace')
      expect(readFileSync(at(name), 'utf8')).toBe(before)
    }
  })

  it('is refused if it was changed since Sluice wrote it', async () => {
    const { sluice, at, runId } = await setUp()
    await sluice('sample', runId, at('sample.csv'), '--size', '2')
    appendFileSync(at('sample.csv'), 'a label that took an hour\n')
    const refused = await sluice('sample', runId, at('sample.csv'), '--size', '2')
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('was changed since Sluice wrote it'),
    ])
    expect(readFileSync(at('sample.csv'), 'utf8')).toContain('took an hour')
  })

  it('is replaced if only its time has changed, as in a restored cache', async () => {
    onlyInLongForm()
    const { sluice, at, runId } = await setUp()
    const toIds = () => sluice('export', runId, at('ids.csv'), '--columns', 'post_id')
    await toIds()
    utimesSync(at('ids.csv'), 1_700_000_000, 1_700_000_000)
    expect(await toIds()).toMatchObject({ code: 0 })
    const { size } = statSync(at('ids.csv'))
    writeFileSync(at('ids.csv'), readFileSync(at('ids.csv'), 'utf8').replace('p1', 'p9'))
    expect(statSync(at('ids.csv')).size).toBe(size)
    expect((await toIds()).stderr).toContain('was changed since Sluice wrote it')
  })

  it('is not replaced if somebody wrote it after it was checked', async () => {
    onlyInLongForm()
    const { sandbox, source, sluice, at, note } = await setUp()
    const file = at('results.csv')
    await sluice('connection', 'add', 'live', '--base-url', sandbox.baseUrl, '--production')
    const writeMeanwhile = () => {
      note('results.csv')
      return true
    }
    const sent = await runInProcess(['task', source, ...ANEW, '--connection', 'live', '--export', file], {
      workspace: at('workspace'),
      env: { SLUICE_API_KEY: sandbox.key },
      ask: writeMeanwhile,
    })
    expect([sent.code, sent.stderr]).toEqual([
      1,
      expect.stringContaining('was not written from this workspace'),
    ])
    expect(readFileSync(file, 'utf8')).toBe(NOTES)
    // Nor is it taken for what the command wrote.
    expect((await sluice('export', 'latest', file)).stderr).toContain('was not written from this workspace')
  })

  it('is named if it is a link to itself', async () => {
    onlyInLongForm()
    const { sluice, at, runId } = await setUp()
    symlinkSync('loop.csv', at('loop.csv'))
    const refused = await sluice('export', runId, at('loop.csv'))
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('loop.csv cannot be written')])
  })

  it('is replaced if it is empty, as scripts create it to reserve a name', async () => {
    onlyInLongForm()
    const { sluice, at, runId } = await setUp()
    writeFileSync(at('new.csv'), '')
    expect(await sluice('export', runId, at('new.csv'), '--columns', 'post_id')).toMatchObject({ code: 0 })
    expect(await sluice('export', runId, at('new.csv'), '--columns', 'post_id')).toMatchObject({ code: 0 })
  })

  it('is forgotten with the workspace', async () => {
    onlyInLongForm()
    const { sluice, at, runId } = await setUp()
    await sluice('export', runId, at('ids.csv'), '--columns', 'post_id')
    expect(readFileSync(join(at('workspace'), 'written-files.json'), 'utf8')).toContain('ids.csv')
    await sluice('wipe', '--yes')
    expect(() => readFileSync(join(at('workspace'), 'written-files.json'))).toThrow('ENOENT')
  })
})
