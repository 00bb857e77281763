import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

async function open() {
  const sandbox = await withSandbox()
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'posts'))
  writeSource(folder, 'posts/b.csv', 'text_data,user_id,post_id\nthird,u1,p3\nfourth,u1,p1\n')
  writeSource(folder, 'posts/a.csv', 'post_id,user_id,text_data\np1,u1,first\np2,u1,second\n')
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  return { sandbox, folder, sluice, to: ['--base-url', sandbox.baseUrl] }
}

/** The text of a terminal as one line. */
const toLine = (text: string) => text.replaceAll(/\s+/g, ' ')

describe('several sources', () => {
  it('are one run, in which a pattern stands for its files by name and each row has its file', async () => {
    const { sandbox, folder, sluice, to } = await open()
    const pattern = join(folder, 'posts', '*.csv')
    const sent = await sluice('task', pattern, ...to, '--export', join(folder, 'out.jsonl'))
    expect(sent.stderr).toContain('Reading 2 files as one source: a.csv, b.csv.')
    expect(sent.code).toBe(1)
    expect((await sandbox.stats()).tasks).toBe(3)
    expect(toLine(sent.stdout)).toContain('a.csv and 1 more → ')
    // A repeated id names both places.
    expect(toLine(sent.stdout)).toMatch(/row 3 of b\.csv.*is also in row 2 of a\.csv/)
    const lines = readFileSync(join(folder, 'out.jsonl'), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).file)).toEqual(['a.csv', 'a.csv', 'b.csv', 'b.csv'])
  })

  it('can be shown, exported and evaluated one by one, also after a retry', async () => {
    const { folder, sluice, to, sandbox } = await open()
    await sandbox.admin('PATCH', '/behaviour', { faults: ['503=100%'] })
    const posts = join(folder, 'posts')
    await sluice('task', posts, ...to, '--stop-at-errors', '100%', '--retries', '0', '--quiet')
    expect(JSON.parse((await sluice('show', 'latest', '--json')).stdout).rows).toMatchObject({ succeeded: 0 })
    await sandbox.admin('PATCH', '/behaviour', { faults: [] })
    await sluice('retry', 'latest', '--on-unknown', 'resend', '--quiet')
    const listRows = async (...filter: string[]) => {
      const { stdout } = await sluice('show', 'latest', ...filter, '--json')
      const { total, rows } = JSON.parse(stdout) as { total: number; rows: { post_id: string }[] }
      expect(rows).toHaveLength(total)
      return rows.map(({ post_id: id }) => id)
    }
    expect(await listRows('--from-file', 'a.csv')).toEqual(['p1', 'p2'])
    expect(await listRows('--from-file', 'b.csv', '--state', 'succeeded')).toEqual(['p3'])
    expect(await listRows('--from-file', 'a.csv', '--from-file', 'b.csv')).toHaveLength(4)
    const out = join(folder, 'b-results.csv')
    await sluice(
      'export',
      'latest',
      out,
      '--from-file',
      'b.csv',
      '--columns',
      'source,sluice_file,sluice_state',
    )
    expect(readFileSync(out, 'utf8').slice(1).trim().split('\r\n')).toEqual([
      'post_id,user_id,text_data,sluice_file,sluice_state',
      'p3,u1,third,b.csv,succeeded',
      'p1,u1,fourth,b.csv,invalid',
    ])
    for (const command of [
      ['show', 'latest'],
      ['export', 'latest', join(folder, 'none.csv')],
    ]) {
      const refused = await sluice(...command, '--from-file', 'c.csv')
      expect([refused.code, toLine(refused.stderr)]).toEqual([
        2,
        expect.stringContaining('no row of the run is from the file `c.csv` Name one of these files'),
      ])
    }
    expect(existsSync(join(folder, 'none.csv'))).toBe(false)
  })

  it('are named with each row of samples, verdicts, evaluations and changes, whose row numbers are of their files', async () => {
    onlyInLongForm()
    const { folder, sluice, to } = await open()
    const files = ['a.csv', 'b.csv'].map((name) =>
      writeSource(folder, name, `text_data,user_id,truth\nwin a free prize,u1,yes\nhello to ${name},u1,no\n`),
    )
    await sluice('task', ...files, ...to, '--set', 'post_id={{run}}-{{row}}')
    await sluice('run-again', 'latest')
    await sluice('verdict', 'latest', 'b.csv:2', 'agree')
    const readFiles = (name: string) => {
      const [header = '', ...rows] = readFileSync(join(folder, name), 'utf8').slice(1).trim().split('\n')
      const at = header.split(',').indexOf('sluice_file')
      return rows.map((row) => row.split(',')[at])
    }
    const all = ['a.csv', 'a.csv', 'b.csv', 'b.csv']
    await sluice('sample', 'latest', join(folder, 'sample.csv'), '--size', '4')
    expect(readFiles('sample.csv')).toEqual(all)
    await sluice('verdict', 'latest', '--export', join(folder, 'verdicts.csv'))
    expect(readFiles('verdicts.csv')).toEqual(['b.csv'])
    const labels = ['--label', 'truth', '--positive', 'yes=Likely spam']
    await sluice('evaluate', 'latest', ...labels, '--export', join(folder, 'judged.csv'))
    expect(readFiles('judged.csv')).toEqual(all)
    const { stdout } = await sluice('runs', '--json')
    const [b, a] = (JSON.parse(stdout) as { run_id: string }[]).map(({ run_id: runId }) => runId)
    const changes = ['--by', 'row', '--list', 'changed', '--export', join(folder, 'changes.csv')]
    await sluice('compare', a ?? '', b ?? '', ...changes)
    expect(readFileSync(join(folder, 'changes.csv'), 'utf8')).toContain(',sluice_file,')
    // What was exported can be imported.
    expect(await sluice('verdict', 'latest', '--from', join(folder, 'verdicts.csv'))).toMatchObject({
      code: 0,
    })
  })

  it('are in the plan that is saved, next to those that a folder of tables has, and in the documents', async () => {
    onlyInLongForm()
    const { folder, sluice, to } = await open()
    const single = writeSource(folder, 'single.csv', 'post_id,user_id,text_data\np9,u1,last\n')
    const plan = join(folder, 'plan.json')
    const sources = [join(folder, 'posts'), single]
    const tried = await sluice('task', ...sources, ...to, '--dry-run', '--json', '--save-plan', plan)
    expect(JSON.parse(tried.stdout).rows).toMatchObject({ read: 5, sendable: 4 })
    expect(JSON.parse(readFileSync(plan, 'utf8'))).toMatchObject({
      name: 'posts and 1 more',
      source: { path: 'posts', more: ['single.csv'] },
    })
    const run = await sluice('plan', plan, '--trust-plan', '--json')
    expect(JSON.parse(run.stdout)).toMatchObject({
      source: join(folder, 'posts'),
      more_sources: [single],
      rows: { read: 5, succeeded: 4, invalid: 1 },
    })
    writeFileSync(single, 'post_id,user_id,text_data\np9,u1,changed\n')
    const again = await sluice('run-again', 'latest', '--if-unchanged')
    expect([again.code, toLine(again.stderr)]).toEqual([2, expect.stringContaining('changed')])
  })

  it('find their run by each file, and are a trend only of runs of all of them', async () => {
    const { folder, sluice, to } = await open()
    const [a, b] = [join(folder, 'posts', 'a.csv'), join(folder, 'posts', 'b.csv')]
    await sluice('task', a, b, ...to, '--quiet')
    await sluice('task', a, ...to, '--quiet')
    const readRuns = async (...args: string[]) => {
      const { stdout, stderr } = await sluice(...args, '--json')
      expect(stderr).toBe('')
      const found = JSON.parse(stdout)
      return (found.runs ?? found).map((run: { rows: number | { read: number } }) =>
        typeof run.rows === 'number' ? run.rows : run.rows.read,
      )
    }
    expect(await readRuns('runs', '--search', 'b.csv')).toEqual([4])
    expect(await readRuns('trend', a)).toEqual([2])
    expect(await readRuns('trend', a, b)).toEqual([4, 2])
    expect(await readRuns('trend', '*.csv')).toEqual([4, 2])
  })

  it('are all named in every report, by their names alone in one without content', async () => {
    const { folder, sluice, to } = await open()
    await sluice('task', join(folder, 'posts', 'a.csv'), join(folder, 'posts', 'b.csv'), ...to)
    const report = async (...args: string[]) => {
      const { stdout } = await sluice('report', 'latest', '--json', ...args)
      return JSON.parse(stdout).summary
    }
    expect(await report()).toMatchObject({ source: 'a.csv', more_sources: ['b.csv'] })
    const files = ['report.html', 'report.md'].map((name) => join(folder, name))
    for (const file of files) {
      for (const content of [[], ['--with-content']]) {
        await sluice('report', 'latest', file, '--overwrite', ...content)
        const text = readFileSync(file, 'utf8').replaceAll(/<\/?bdi>|`/g, '')
        expect(text).toContain('rows of a.csv and 1 more ')
      }
    }
  })

  it('are counted in the report of a load test, which names a file from a browser without its folder', async () => {
    const { folder, sluice, to } = await open()
    mkdirSync(join(folder, 'uploads', 'a'.repeat(24)), { recursive: true })
    const sources = [`uploads/${'a'.repeat(24)}/c.csv`, 'd.csv'].map((name) =>
      writeSource(folder, name, `user_id,text_data\nu1,text of ${name}\n`),
    )
    await sluice('load', ...sources, ...to, '--concurrency', '1', '--requests', '2', '--quiet')
    const file = join(folder, 'load.md')
    await sluice('export', 'latest', file)
    expect(readFileSync(file, 'utf8')).toContain(`rows of \`c.csv and 1 more\` to`)
  })

  it('are reported if they lack a column, with columns that only some of them have', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const write = (name: string, text: string) => writeSource(folder, name, text)
    const check = (...args: string[]) =>
      runInProcess(['task', ...args, '--base-url', 'http://127.0.0.1:9', '--dry-run'], {
        workspace: folder,
        env: { SLUICE_API_KEY: 'k' },
      })
    const january = write('jan.csv', 'user_id,text_data\nu1,hello there\n')
    const lacking = await check(january, write('feb.csv', 'author,text_data\nu2,hi\n'))
    expect(lacking.stdout).toContain(
      '1 row (warning)  missing in feb.csv: column user_id (other files lack its author); cells there are empty',
    )
    const renamed = await check(
      write('may.csv', 'user_id,Inhalt\nu1,hello\n'),
      write('jun.csv', 'user_id,Gesagt\nu2,hi\n'),
      '--map',
      'text_data=Nachricht',
    )
    expect(renamed.code).toBe(2)
    expect(renamed.stderr).toContain(
      'not in all files: `Inhalt` of may.csv; not in all files: `Gesagt` of jun.csv',
    )
    expect(renamed.stderr).toContain('one name in all of them; or send each file by itself')
  })

  it('are refused if a pattern matches nothing, and with standard input', async () => {
    const { folder, sluice, to } = await open()
    const pattern = join(folder, 'posts', '*.tsv')
    const nothing = await sluice('task', pattern, ...to)
    expect([nothing.code, toLine(nothing.stderr)]).toEqual([
      2,
      expect.stringContaining(`${pattern}: no file matches`),
    ])
    const stdin = await sluice('task', '-', join(folder, 'posts'), ...to, '--format', 'csv')
    expect([stdin.code, stdin.stderr]).toEqual([2, expect.stringContaining('cannot be combined')])
  })
})
