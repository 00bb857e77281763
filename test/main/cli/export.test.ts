import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { parseRfc4180 } from '../engine/source/rfc4180.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = [
  'post_id;user_id;text_data',
  'p1;u1;win a free prize now',
  'p2;u2;see you at lunch',
  'p_3;u3;odd',
]

/** A run of three rows: one that triggers a rule, one that does not, one that is invalid. */
async function sendRows() {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const source = writeSource(folder, 'posts.csv', `${ROWS.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const sending = [source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet']
  await sluice('task', ...sending)
  return { folder, source, sending, sluice, at: (name: string) => join(folder, name) }
}

const readCsv = (file: string) => parseRfc4180(readFileSync(file, 'utf8').slice(1))

describe('export', () => {
  it('has null as the time of a try that a crash cut off, as `show --row` has', async () => {
    const { sluice, at } = await sendRows()
    const { run_id: runId } = JSON.parse((await sluice('show', 'latest', '--json')).stdout)
    const db = new DatabaseSync(toJournalFile(at('workspace'), runId))
    db.exec('UPDATE attempt SET sent_at_us = NULL WHERE item = 1')
    db.close()
    const lines = (await sluice('export', 'latest', '-', '--format', 'jsonl')).stdout.split('\n')
    const shown = (await sluice('show', 'latest', '--row', '2', '--json')).stdout
    for (const [told] of [JSON.parse(lines[0] ?? '').tries, JSON.parse(shown).attempts])
      expect(told).toMatchObject({ number: 1, sent_at: null })
    expect((await sluice('show', 'latest', '--row', '2')).stdout).toMatch(/1\. succeeded {2}200/)
  })

  it('writes the requested columns, and one for each rule', async () => {
    const { sluice, at } = await sendRows()
    const columns = ['--columns', 'sluice_row, "source.post_id"', '--columns', 'sluice_state,answer.code']
    const { code } = await sluice('export', 'latest', at('out.csv'), ...columns, '--rules-as-columns')
    expect(code).toBe(0)
    expect(readCsv(at('out.csv'))).toEqual([
      ['sluice_row', 'post_id', 'sluice_state', 'answer.code', 'rule.Likely spam'],
      ['2', 'p1', 'succeeded', '200', 'true'],
      ['3', 'p2', 'succeeded', '200', 'false'],
      ['4', 'p_3', 'invalid', '', ''],
    ])
  })

  it('refuses unknown columns, and columns of exports that have none, before a file is written', async () => {
    onlyInLongForm()
    const { sluice, at, sending } = await sendRows()
    const refuse = async (name: string, ...args: string[]) => {
      const result = await sluice('export', 'latest', at(name), ...args)
      expect(result, args.join(' ')).toMatchObject({ code: 2, stdout: '' })
      expect(existsSync(at(name))).toBe(false)
      return result.stderr
    }
    expect(await refuse('out.csv', '--columns', 'source,language')).toContain('`sluice_language`')
    expect(await refuse('out.csv', '--columns', ' , ')).toContain('expected names of columns')
    expect(await refuse('out.jsonl', '--rules-as-columns')).toContain('always holds everything')
    await sluice('load', ...sending, '--concurrency', '1', '--requests', '1')
    expect(await refuse('out.csv', '--columns', 'all')).toContain('--columns cannot be used with a load test')
  })

  it('writes Parquet, and compressed text, according to the file name', async () => {
    onlyInLongForm()
    const { sluice, at } = await sendRows()
    for (const name of ['out.csv', 'out.csv.gz', 'out.parquet']) {
      expect(await sluice('export', 'latest', at(name))).toMatchObject({ code: 0, stderr: '' })
    }
    expect(gunzipSync(readFileSync(at('out.csv.gz')))).toEqual(readFileSync(at('out.csv')))
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(at('out.parquet')) })
    expect(rows).toMatchObject([
      { post_id: 'p1', sluice_row: 2, sluice_state: 'succeeded', sluice_status: 200 },
      { post_id: 'p2', sluice_row: 3, sluice_state: 'succeeded', sluice_status: 200 },
      { post_id: 'p_3', sluice_row: 4, sluice_state: 'invalid', sluice_status: null },
    ])
    for (const [name, ...args] of [['out.xlsx.gz'], ['no.csv', '--gzip']] as const) {
      const refused = await sluice('export', 'latest', at(name), ...args)
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('gzip only applies to') })
      expect(existsSync(at(name))).toBe(false)
    }
    const source = await sluice(
      'task',
      at('out.csv.gz'),
      '--dry-run',
      '--json',
      '--base-url',
      'http://127.0.0.1:9',
    )
    expect(JSON.parse(source.stdout)).toMatchObject({ rows: { read: 3 } })
  })

  it("writes the file's content to stdout, and leaves nothing behind", async () => {
    const { folder, sluice, at } = await sendRows()
    await sluice('export', 'latest', at('out.csv'))
    const file = readFileSync(at('out.csv'), 'utf8')
    expect(file).toMatch(/^\uFEFFpost_id,/)
    // A pipe gets no byte-order mark, which other programs take for part of the first name.
    const written = await sluice('export', 'latest', '-')
    expect(written).toMatchObject({ code: 0, stdout: file.slice(1), stderr: '' })
    expect(await sluice('export', 'latest', '-', '--bom')).toMatchObject({ code: 0, stdout: file })
    for (const [name, ...args] of [[at('no.csv')], ['-', '--format', 'jsonl']] as const) {
      const refused = await sluice('export', 'latest', name, ...args, '--bom')
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--bom only applies to CSV') })
    }
    const lines = await sluice('export', 'latest', '-', '--format', 'jsonl', '--state', 'succeeded')
    expect(
      lines.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).row),
    ).toEqual([2, 3])
    expect(readdirSync(join(folder, 'workspace')).filter((name) => name.startsWith('export'))).toEqual([])
    const refused = await sluice('export', 'latest', at('no.csv'), '--format', 'csv')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--format only applies to -') })
  })

  it('says how many cells it guarded as formulas, and writes them unchanged with --lossless', async () => {
    onlyInLongForm()
    const { folder, sluice, at, sending } = await sendRows()
    const texts = ['=1+1', '@someone look; @other', 'fine; -ok', '-5', "'=1", 'win a free prize now']
    const rows = texts.map((text, index) => `f${index};u1;"${text}"`)
    const source = writeSource(
      folder,
      'formulas.csv',
      `${['post_id;user_id;text_data', ...rows].join('\n')}\n`,
    )
    const sent = await sluice('task', source, ...sending.slice(1, -1), '--export', at('sent.csv'))
    const told = '3 cells have an apostrophe in front, since a spreadsheet would run them as formulas'
    expect(sent.stderr).toContain(`${told}; to write them unchanged: `)
    const readTexts = (name: string) => readCsv(at(name)).map(([, , text]) => text)
    expect(readTexts('sent.csv')).toEqual([
      'text_data',
      "'=1+1",
      "'@someone look; @other",
      'fine; -ok',
      '-5',
      "''=1",
      texts[5],
    ])
    const written = await sluice('export', 'latest', at('out.csv'))
    expect(written.stdout).toContain(`\n${told}; --lossless writes them unchanged\n`)
    const document = await sluice('export', 'latest', at('out.csv'), '--json')
    expect(JSON.parse(document.stdout)).toMatchObject({ rows: 6, escaped_cells: 3 })
    expect((await sluice('export', 'latest', '-')).stderr).toBe(`${told}; --lossless writes them unchanged\n`)
    const both = await sluice('export', 'latest', at('out.csv'), '--errors', at('errors.csv'))
    expect(both.stdout).toContain(`${told}; --lossless writes them unchanged\n`)
    const sample = await sluice('sample', 'latest', at('sample.csv'), '--size', '6')
    expect(sample.stdout).toContain(`${told}; a .xlsx or .jsonl file holds them unchanged`)
    for (const [name, ...args] of [['lossless.csv', '--lossless'], ['out.xlsx'], ['out.jsonl']] as const) {
      const unchanged = await sluice('export', 'latest', at(name), ...args)
      expect(unchanged.stdout).not.toContain('apostrophe')
    }
    expect(readTexts('lossless.csv')).toEqual(['text_data', ...texts])
    const again = await sluice('task', at('out.csv'), ...sending.slice(1), '--dry-run', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ first_request: { body: { text_data: '=1+1' } } })
  })

  it('writes only the rows that triggered any rule, or one of the named ones', async () => {
    onlyInLongForm()
    const { folder, sluice, sending } = await sendRows()
    const texts = ['sandbox:spam:3', 'see you', 'sandbox:bullying:3', 'sandbox:spam:3 sandbox:hate:3']
    const rows = texts.map((text, index) => `g${index},u1,${text}`)
    const source = writeSource(folder, 'rules.csv', `${['post_id,user_id,text_data', ...rows].join('\n')}\n`)
    await sluice('task', source, ...sending.slice(1))
    const { stdout } = await sluice('show', 'latest', '--json')
    const rules: { rule_id: string; rule_name: string; rows: number }[] = JSON.parse(stdout).triggered_rules
    expect(rules.length).toBeGreaterThan(2)
    const list = async (...args: string[]) => {
      const exported = await sluice('export', 'latest', '-', '--format', 'jsonl', ...args)
      expect(exported).toMatchObject({ code: 0, stderr: '' })
      return exported.stdout
        .trimEnd()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).post_id)
    }
    expect(await list('--flagged')).toEqual(['g0', 'g2', 'g3'])
    for (const { rule_id: id, rule_name: name, rows: count } of rules) {
      expect(await list('--rule', name.toUpperCase())).toHaveLength(count)
      expect(await list('--rule', id)).toHaveLength(count)
    }
    expect(await list(...rules.flatMap(({ rule_name: name }) => ['--rule', name]))).toEqual([
      'g0',
      'g2',
      'g3',
    ])
    expect(await list('--flagged', '--state', 'rejected')).toEqual([])
    const refused = await sluice('export', 'latest', '-', '--rule', 'Likely spma')
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('`Likely spam`') })
  })

  it("puts another delimiter between the cells, or the source's", async () => {
    onlyInLongForm()
    const { sluice } = await sendRows()
    const first = async (...args: string[]) =>
      (await sluice('export', 'latest', '-', '--columns', 'source,sluice_row', ...args)).stdout.split(
        '\r\n',
      )[1]
    expect(await first()).toBe('p1,u1,win a free prize now,2')
    expect(await first('--delimiter', 'source')).toBe('p1;u1;win a free prize now;2')
    expect(await first('--delimiter', 'tab')).toBe('p1\tu1\twin a free prize now\t2')
    expect((await sluice('export', 'latest', '-', '--delimiter', ':')).code).toBe(2)
    const lines = await sluice('export', 'latest', '-', '--format', 'jsonl', '--delimiter', ';')
    expect(lines).toMatchObject({ code: 2, stderr: expect.stringContaining('only applies to .csv') })
  })
})

describe('--export of commands that send', () => {
  it('exports the run when it has ended, including its retries', async () => {
    onlyInLongForm()
    const { sluice, sending, at } = await sendRows()
    const sent = await sluice('task', ...sending.slice(0, -1), '--export', at('sent.csv'))
    expect(sent.stderr).toContain(`Exported to ${at('sent.csv')}`)
    const readStates = (name: string) => readCsv(at(name)).map((cells) => [cells[4], cells[12]])
    // The sandbox has already received these post_ids.
    expect(readStates('sent.csv')).toEqual([
      ['sluice_state', 'sluice_attempts'],
      ['rejected', '1'],
      ['rejected', '1'],
      ['invalid', '0'],
    ])
    await sluice('retry', 'latest', '--export', at('retried.csv'))
    expect(readStates('retried.csv').slice(1)).toEqual([
      ['rejected', '2'],
      ['rejected', '2'],
      ['invalid', '0'],
    ])
  })

  it('refuses a file that cannot be written to before anything is sent', async () => {
    const { sluice, sending, source, at } = await sendRows()
    for (const file of [source, at('out.doc'), '-']) {
      expect(await sluice('task', ...sending, '--export', file), file).toMatchObject({ code: 2, stdout: '' })
    }
    expect(JSON.parse((await sluice('runs', '--json')).stdout)).toHaveLength(1)
  })
})
