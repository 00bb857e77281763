import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'
import { previewSource } from '../../../src/main/engine/source/preview.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/**
 * As a spreadsheet shows it: two rows of titles, the header in row 3, then rows 4 to 8. The first cell of row
 * 4 has two lines, so that row 5 is line 6. Row 5 lacks its user, and row 7 repeats the post_id of row 6.
 */
const POSTS = `Posts of the week,,
"written for, the team",,
post_id,user_id,text_data
p4,u4,"the first line
and the second"
p5,,nobody wrote this
p6,u6,sandbox:spam:3
p6,u6,the id of row 6
p8,u8,hello
`

/** Records of rows 4, 6 and 8, which can be sent. */
const SENT = [
  ['4', '1', 'p4'],
  ['6', '3', 'p6'],
  ['8', '5', 'p8'],
]

async function openPosts(faults: string[] = [], csv = POSTS) {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ faults, seed: 'rows' })
  const source = writeSource(folder, 'posts.csv', csv)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  const send = (...args: string[]) =>
    sluice('task', source, '--header-row', '3', '--base-url', sandbox.baseUrl, '--retries', '0', ...args)
  return { folder, source, sluice, send, baseUrl: sandbox.baseUrl }
}

function readTable(text: string): Record<string, string>[] {
  return Papa.parse<Record<string, string>>(text.replace(/^\ufeff/, ''), {
    header: true,
    skipEmptyLines: true,
  }).data
}

describe('the number of a row', () => {
  it('is that of the spreadsheet in a dry run, in problems and in what is shown of a row', async () => {
    const { send, sluice } = await openPosts()
    const dry = await send('--dry-run')
    expect(dry.stdout).toMatch(/row 5 \(line 6\)/)
    expect(dry.stdout).toMatch(/but is also in row 6[^\d]/)
    expect(dry.stdout).toMatch(/row 7 \(line 8\): must be unique/)
    expect(dry.stdout).toContain('First request, row 4  POST')
    const { problems, first_request: first } = JSON.parse((await send('--dry-run', '--json')).stdout)
    expect(first).toMatchObject({ row: 4, record: 1, body: { post_id: 'p4' } })
    const examples = problems.flatMap((group: { examples: object[] }) => group.examples)
    expect(examples).toMatchObject([
      { row: 7, record: 4, field: 'post_id', message: expect.stringContaining('also in row 6') },
      { row: 5, record: 2, field: 'user_id' },
    ])
    await send('--quiet')
    expect((await sluice('show', 'latest', '--problems')).stdout).toMatch(
      /row 7 \(line 8\)[\s\S]*row 5 \(line 6\)/,
    )
    const shown = await sluice('show', 'latest', '--row', '6')
    expect(shown.stdout).toMatch(/^Row 6 \(line 7\)/)
    expect(shown.stdout).toContain('sandbox:spam:3')
    const { result } = JSON.parse((await sluice('show', 'latest', '--row', '6', '--json')).stdout)
    expect(result).toMatchObject({ row: 6, record: 3, post_id: 'p6' })
  })

  it('is that of the spreadsheet in every export, with the number of the record beside it', async () => {
    onlyInLongForm()
    const { folder, send, sluice } = await openPosts()
    await send('--quiet')
    const [csv, xlsx, jsonl] = ['csv', 'xlsx', 'jsonl'].map((ending) => join(folder, `out.${ending}`))
    for (const file of [csv, xlsx, jsonl]) await sluice('export', 'latest', file ?? '')
    const numbers = [
      ['4', '1'],
      ['5', '2'],
      ['6', '3'],
      ['7', '4'],
      ['8', '5'],
    ]
    const rows = readTable(readFileSync(csv ?? '', 'utf8'))
    expect(rows[3]?.['sluice_message']).toContain('but is also in row 6')
    expect(rows.map((row) => [row['sluice_row'], row['sluice_record']])).toEqual(numbers)
    const sheet = await previewSource({ path: xlsx ?? '', header: true }, 10)
    const at = ['sluice_row', 'sluice_record'].map((name) => sheet.columns.indexOf(name))
    expect(sheet.rows.map(({ cells }) => at.map((index) => cells[index]))).toEqual(numbers)
    const lines = readFileSync(jsonl ?? '', 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line)).map(({ row, record }) => [row, record])).toEqual(
      numbers.map((pair) => pair.map(Number)),
    )
  })

  it('is that of the spreadsheet in samples, verdicts and evaluations', async () => {
    onlyInLongForm()
    const { folder, send, sluice } = await openPosts()
    await send('--quiet')
    const sample = join(folder, 'sample.csv')
    await sluice('sample', 'latest', sample, '--size', '3')
    const drawn = readTable(readFileSync(sample, 'utf8'))
    expect(drawn.map((row) => [row['sluice_row'], row['sluice_record'], row['sluice_post_id']])).toEqual(SENT)
    const given = await sluice('verdict', 'latest', '6', 'agree')
    expect(given.stdout).toMatch(/\n +6 +agree/)
    const { verdicts } = JSON.parse((await sluice('verdict', 'latest', '--json')).stdout)
    expect(verdicts).toMatchObject([{ row: 6, record: 3, verdict: 'agree' }])
    const file = join(folder, 'verdicts.csv')
    await sluice('verdict', 'latest', '--export', file)
    expect(readTable(readFileSync(file, 'utf8'))).toMatchObject([
      { post_id: 'p6', sluice_row: '6', sluice_record: '3', sluice_verdict: 'agree' },
    ])
    const listed = await sluice('evaluate', 'latest', '--verdicts', '--list', 'tp:Likely spam', '--json')
    expect(listed).toMatchObject({ stderr: '' })
    expect(JSON.parse(listed.stdout).listed[0].rows).toMatchObject([{ row: 6, record: 3 }])
    expect((await sluice('evaluate', 'latest', '--verdicts', '--list', 'tp:Likely spam')).stdout).toMatch(
      /\n +6 +/,
    )
    const missing = await sluice('verdict', 'latest', '3', 'agree')
    expect(missing).toMatchObject({ code: 2 })
    expect(missing.stderr).toContain('has no row 3')
  })

  it('is that of the spreadsheet in reports of rows that were refused', async () => {
    onlyInLongForm()
    const { folder, send, sluice } = await openPosts(['400=100%'])
    await send('--quiet')
    const { failures } = JSON.parse((await sluice('report', 'latest', '--json')).stdout)
    const examples = failures.flatMap((failure: { examples: object[] }) => failure.examples)
    expect(examples.map(({ row, record }: { row: number; record: number }) => [row, record])).toEqual([
      [4, 1],
      [6, 3],
      [8, 5],
      [7, 4],
      [5, 2],
    ])
    const file = join(folder, 'report.html')
    await sluice('report', 'latest', file)
    expect(readFileSync(file, 'utf8')).toContain('4, 6, 8')
  })

  it('is that of the spreadsheet among the rows that changed between two runs', async () => {
    onlyInLongForm()
    const { folder, send, sluice } = await openPosts()
    const sendNew = async () =>
      JSON.parse((await send('--set', 'post_id={{run}}-{{row}}', '--json')).stdout).run_id as string
    const a = await sendNew()
    writeSource(folder, 'posts.csv', POSTS.replace('hello', 'sandbox:spam:3'))
    const b = await sendNew()
    const compare = (...args: string[]) => sluice('compare', a, b, '--by', 'row', ...args)
    const { decisions } = JSON.parse((await compare('--json')).stdout)
    expect(decisions.listed.rows).toMatchObject([
      { a: { row: 8, record: 5 }, b: { row: 8, record: 5, place: { row: 8, line: 9 } } },
    ])
    const file = join(folder, 'changed.csv')
    expect((await compare('--export', file)).stdout).toMatch(/\n +8 +/)
    expect(readTable(readFileSync(file, 'utf8'))).toMatchObject([
      { sluice_a_row: '8', sluice_a_record: '5', sluice_row: '8', sluice_record: '5' },
    ])
  })
})

describe('a number that is read as a row of a run', () => {
  const sendAll = async () => {
    const opened = await openPosts()
    await opened.send('--quiet')
    const file = join(opened.folder, 'given.csv')
    const take = async (text: string) => {
      writeFileSync(file, text)
      return opened.sluice('verdict', 'latest', '--from', file)
    }
    const read = async () => {
      const { verdicts } = JSON.parse((await opened.sluice('verdict', 'latest', '--json')).stdout)
      return verdicts.map(({ row, record }: { row: number; record: number }) => [row, record])
    }
    return { ...opened, file, take, read }
  }

  it('is that of the record if a file has a column of it, whatever else it has', async () => {
    onlyInLongForm()
    const { take, read } = await sendAll()
    await take('sluice_row,sluice_record,sluice_verdict\n6,3,agree\n')
    expect(await read()).toEqual([[6, 3]])
    const contradicting = await take('sluice_row,sluice_record,sluice_verdict\n3,3,agree\n')
    expect(contradicting).toMatchObject({ code: 2 })
    expect(contradicting.stderr).toMatch(/sluice_row is 3, but record 3 of the run is row 6/)
  })

  it('is that of the record in a file that an earlier version wrote', async () => {
    onlyInLongForm()
    const { take, read } = await sendAll()
    await take(
      'post_id,user_id,text_data,sluice_row,sluice_verdict,sluice_rule,sluice_note,sluice_given_at,sluice_stratum,sluice_stratum_rows\n' +
        'p6,u6,sandbox:spam:3,3,agree,,,2026-01-01T00:00:00.000Z,,\n',
    )
    expect(await read()).toEqual([[6, 3]])
    const foreign = await take(
      'sluice_row,sluice_post_id,sluice_triggered_rules,sluice_verdict\n3,p4,,agree\n',
    )
    expect(foreign).toMatchObject({ code: 2 })
    expect(foreign.stderr).toMatch(/sluice_post_id is `p4`, but record 3 of the run has `p6`/)
  })

  it('is that of the spreadsheet if a person wrote row, and is refused if it could be either', async () => {
    onlyInLongForm()
    const { take, read } = await sendAll()
    const either = await take('sluice_row,sluice_verdict\n4,agree\n')
    expect(either).toMatchObject({ code: 2 })
    expect(either.stderr).toMatch(/rename it to row .* or to sluice_record/)
    expect(await read()).toEqual([])
    await take('row,sluice_verdict\n4,agree\n8,agree\n')
    expect(await read()).toEqual([
      [4, 1],
      [8, 5],
    ])
  })

  it('names which half of a split record is meant', async () => {
    onlyInLongForm()
    const csv = 'Posts,,,\n,,,\npost_id,user_id,text_data,url\np4,u4,hello,https://example.com/a.png\n'
    const { folder, sluice, source, baseUrl } = await openPosts([], csv)
    const plan = join(folder, 'plan.json')
    writeFileSync(
      plan,
      JSON.stringify({
        connection: { baseUrl },
        source: { path: source, headerRow: 3 },
        operation: { kind: 'task' },
        fixes: [{ kind: 'split' }],
      }),
    )
    const sent = await sluice('plan', plan, '--trust-plan', '--quiet')
    expect(sent).toMatchObject({ stderr: '' })
    expect((await sluice('show', 'latest', '--row', '4a')).stdout).toMatch(/^Row 4a/)
    expect((await sluice('show', 'latest', '--row', '4b')).stdout).toMatch(/^Row 4b/)
    const whole = await sluice('show', 'latest', '--row', '4')
    expect(whole).toMatchObject({ code: 2 })
    expect(whole.stderr).toMatch(/row 4 of run \S+ can be 4a or 4b/)
    const out = join(folder, 'split.csv')
    await sluice('export', 'latest', out)
    expect(readTable(readFileSync(out, 'utf8')).map((row) => row['sluice_row'])).toEqual(['4a', '4b'])
  })
})
