import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'
import type { Evaluation } from '../../../src/shared/lookback/evaluation.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = 200

/** Every tenth row triggers the rule; every fifth should. */
function createPosts(): string {
  const lines = Array.from({ length: ROWS }, (_, index) => {
    const text = index % 10 === 0 ? 'sandbox:spam:3' : 'hello'
    return `p${index + 1},u1,${text} ${index + 1},${index % 5 === 0 ? 'spam' : 'ham'},${index % 4 === 0 ? 'EN' : 'DE'}`
  })
  return `post_id,user_id,text_data,truth,country\n${lines.join('\n')}\n`
}

function readRows(file: string): Record<string, string>[] {
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '')
  return Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true }).data
}

function openFolder(key = '') {
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.csv', createPosts())
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: key } })
  return { folder, source, sluice }
}

const LABELS = ['--label', 'truth', '--positive', 'spam=Likely spam', '--json']

describe('sample', () => {
  it('draws rows of a run by rule, whose labels estimate the figures of all rows', async () => {
    const sandbox = await withSandbox()
    const { folder, source, sluice } = openFolder(sandbox.key)
    await sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet', '--json')
    const file = join(folder, 'sample.csv')
    const drawn = await sluice('sample', 'latest', file, '--size', '80', '--by', 'rule', '--json')
    expect(JSON.parse(drawn.stdout)).toMatchObject({
      rows: 80,
      strata: [
        { stratum: 'no rule', rows: 180, drawn: 72 },
        { stratum: 'Likely spam', rows: 20, drawn: 8 },
      ],
    })
    const rows = readRows(file)
    expect(rows).toHaveLength(80)
    for (const row of rows) {
      expect(row['sluice_stratum']).toBe(row['sluice_triggered_rules'] || 'no rule')
      expect(row['sluice_stratum_rows']).toBe(row['sluice_stratum'] === 'no rule' ? '180' : '20')
    }

    // The label column stands in the sample, too; the rest of the run has no label for this.
    const evaluated = await sluice('evaluate', 'latest', '--labels', file, '--key', 'sluice_row', ...LABELS)
    const { rows: counts, strata, rules } = JSON.parse(evaluated.stdout) as Evaluation
    expect(counts).toMatchObject({ read: ROWS, evaluated: 80, without_label: 120 })
    expect(strata).toHaveLength(2)
    const missed = rows.filter(
      (row) => row['truth'] === 'spam' && row['sluice_triggered_rules'] === '',
    ).length
    expect(rules[0]?.matrix).toMatchObject({ true_positives: 8, false_negatives: missed })
    expect(rules[0]?.estimated).toMatchObject({ true_positives: 20, false_negatives: (missed * 180) / 72 })
    const { value, low, high } = rules[0]?.recall ?? { value: 0, low: 0, high: 0 }
    expect(value).toBeCloseTo(20 / (20 + (missed * 180) / 72), 12)
    // All rows have a recall of one half.
    expect([(low ?? 1) < 0.5, (high ?? 0) > 0.5]).toEqual([true, true])
  })

  it('writes the rows of a split record to a Parquet file', async () => {
    const sandbox = await withSandbox()
    const { folder, sluice } = openFolder(sandbox.key)
    writeSource(folder, 'both.csv', 'post_id,user_id,text_data,url\np1,u1,hello,https://example.com/a.png\n')
    const plan = join(folder, 'both.plan.json')
    writeFileSync(
      plan,
      JSON.stringify({
        version: 1,
        name: 'both',
        source: { path: 'both.csv' },
        operation: { kind: 'task' },
        fixes: [{ kind: 'split' }],
        connection: { baseUrl: sandbox.baseUrl },
      }),
    )
    await sluice('plan', plan, '--trust-plan', '--quiet')
    const file = join(folder, 'sample.parquet')
    expect(await sluice('sample', 'latest', file, '--size', '2', '--json')).toMatchObject({
      code: 0,
      stderr: '',
    })
    const buffer = await asyncBufferFromFile(file)
    expect(await parquetReadObjects({ file: buffer })).toMatchObject([
      { sluice_row: '2a', sluice_stratum_rows: 2 },
      { sluice_row: '2b', sluice_stratum_rows: 2 },
    ])
  })

  it('draws rows of a source by a column, which can be sent and are weighted back when evaluated', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const { folder, source, sluice } = openFolder(sandbox.key)
    const file = join(folder, 'part.csv')
    const args = ['--size', '40', '--by', 'country', '--allocation', 'equal', '--seed', '7']
    const { stdout } = await sluice('sample', source, file, ...args)
    expect(stdout).toMatch(
      /40 rows in .*part\.csv .*seed 7\n +group +rows +drawn\n +DE +150 +20\n +EN +50 +20\n/,
    )
    const first = readFileSync(file, 'utf8')
    expect(first.split('\r\n')[0]).toMatch(/truth,country,sluice_stratum,sluice_stratum_rows$/)
    await sluice('sample', source, file, ...args)
    expect(readFileSync(file, 'utf8')).toBe(first)
    await sluice('sample', source, file, ...args.slice(0, -1), '8')
    expect(readFileSync(file, 'utf8')).not.toBe(first)

    await sluice('task', file, '--legacy', '--base-url', sandbox.baseUrl, '--quiet', '--json')
    const { strata, rules } = JSON.parse((await sluice('evaluate', 'latest', ...LABELS)).stdout) as Evaluation
    expect(strata).toEqual([
      { stratum: expect.any(String), rows: expect.any(Number), labelled: 20 },
      { stratum: expect.any(String), rows: expect.any(Number), labelled: 20 },
    ])
    const all = Object.values(rules[0]?.estimated ?? {}).reduce((sum, rows) => sum + rows, 0)
    expect(all).toBeCloseTo(ROWS, 9)
  })

  it('writes cells that look like formulas so that they are sent as they were', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const { folder, sluice } = openFolder(sandbox.key)
    const source = writeSource(folder, 'sums.csv', 'post_id,user_id,text_data\np1,u1,=1+1\np2,u1,@all\n')
    const file = join(folder, 'part.csv')
    await sluice('sample', source, file, '--size', '2')
    expect(readFileSync(file, 'utf8')).toContain(",'=1+1,")
    await sluice('task', file, '--base-url', sandbox.baseUrl, '--quiet', '--json')
    const exported = join(folder, 'sent.jsonl')
    await sluice('export', 'latest', exported)
    const sent = readFileSync(exported, 'utf8').trim().split('\n')
    expect(sent.map((line) => JSON.parse(line).request.body.text_data).sort()).toEqual(['=1+1', '@all'])
  })

  it('leaves out rows with errors, and says what a run would ask about', async () => {
    const { folder, sluice } = openFolder()
    const rows = 'u1,fine\nu2,cut, here\nu3,first part\nand the rest\nuser_id,text_data\n'
    const source = writeSource(folder, 'odd.csv', `user_id,text_data\n${rows}`)
    const file = join(folder, 'part.jsonl')
    const { stdout } = await sluice('sample', source, file, '--size', '9', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      rows: 3,
      rows_left_out: 2,
      strata: [{ rows: 3 }],
      warnings: [
        { code: 'cut_by_line_break', rows: 2 },
        { code: 'ragged_row', rows: 1 },
      ],
    })
    const drawn = readFileSync(file, 'utf8').trim().split('\n')
    expect(drawn.map((line) => JSON.parse(line).cells.user_id)).toEqual(['u1', 'u3', 'and the rest'])
    const shown = await sluice('sample', source, file, '--size', '9')
    expect(shown.stdout).toContain('2 rows with errors left out; a dry run of the source lists them')
    expect(shown.stdout).toContain('2 rows: may be one row with the next or previous one')
  })

  it('writes values of JSON lines as they are in the source', async () => {
    const { folder, sluice } = openFolder()
    const rows = [{ term: 'a', notes: null, rank: 5 }, { term: 'b' }]
    const source = writeSource(folder, 'terms.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'))
    const file = join(folder, 'part.jsonl')
    await sluice('sample', source, file, '--size', '2')
    const drawn = readFileSync(file, 'utf8').trim().split('\n')
    expect(drawn.map((line) => JSON.parse(line).cells)).toEqual(rows)
  })

  it('says which of several columns with one name it groups by', async () => {
    const sandbox = await withSandbox()
    const { folder, sluice } = openFolder(sandbox.key)
    const source = writeSource(folder, 'doubled.csv', 'user_id,text_data,kind,kind\nu1,a,x,z\nu1,b,y,z\n')
    const draw = async (of: string, by: string) =>
      JSON.parse(
        (await sluice('sample', of, join(folder, 's.csv'), '--size', '2', '--by', by, '--json')).stdout,
      )
    const message =
      '`kind` is the name of columns 3 and 4; column 3 is used. To use another, name it by its number.'
    const warnings = [{ code: 'ambiguous_column', message, rows: 2 }]
    expect(await draw(source, 'kind')).toMatchObject({ strata: [{}, {}], warnings })
    const other = await draw(source, '4')
    expect(other).toMatchObject({ strata: [{ stratum: 'z', drawn: 2 }] })
    expect(other).not.toHaveProperty('warnings')
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet', '--json')
    expect(await draw('latest', 'kind')).toMatchObject({ strata: [{}, {}], warnings })
  })

  it('weights strata of one name by the rows that each stands for', async () => {
    const sandbox = await withSandbox()
    const { folder, sluice } = openFolder(sandbox.key)
    const rows = ['user_id,text_data,truth,sluice_stratum,sluice_stratum_rows']
    for (const [of, count] of [
      ['10', 2],
      ['30', 3],
    ] as const)
      for (let row = 0; row < count; row += 1) rows.push(`u1,sandbox:spam:3 ${of} ${row},spam,EN,${of}`)
    const source = writeSource(folder, 'two-samples.csv', `${rows.join('\n')}\n`)
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const { strata, rules } = JSON.parse((await sluice('evaluate', 'latest', ...LABELS)).stdout) as Evaluation
    expect(strata).toEqual([
      { stratum: 'EN', rows: 10, labelled: 2 },
      { stratum: 'EN', rows: 30, labelled: 3 },
    ])
    expect(rules[0]?.estimated?.true_positives).toBe(40)

    // A verdict that no sample was drawn for is of the stratum of its row.
    await sluice('verdict', 'latest', '2', 'should-not', 'Likely spam')
    const evaluate = async (...args: string[]) =>
      JSON.parse((await sluice('evaluate', 'latest', '--json', ...args)).stdout) as Evaluation
    const judged = await evaluate(...LABELS, '--verdicts')
    expect(judged.strata).toEqual([
      { stratum: 'EN', rows: 10, labelled: 2 },
      { stratum: 'EN', rows: 30, labelled: 3 },
    ])
    expect(judged.rules[0]?.estimated).toMatchObject({ true_positives: 35, false_positives: 5 })
    const alone = await evaluate('--verdicts')
    expect(alone.strata).toEqual([{ stratum: 'EN', rows: 10, labelled: 1 }])
  })

  it('lets rows with a label of their own stand for themselves, also if verdicts are on a sample', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const { folder, source, sluice } = openFolder(sandbox.key)
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const file = join(folder, 'sample.csv')
    await sluice('sample', 'latest', file, '--size', '20', '--by', 'rule')
    const evaluate = async (...args: string[]) =>
      JSON.parse((await sluice('evaluate', 'latest', '--json', ...args)).stdout) as Evaluation
    const before = await evaluate(...LABELS)

    // Who judged the sample agrees with the column of labels.
    const agreed = readRows(file).map((row) =>
      row['truth'] === 'spam' && row['sluice_triggered_rules'] === ''
        ? { ...row, sluice_verdict: 'should', sluice_rule: 'Likely spam' }
        : { ...row, sluice_verdict: 'agree' },
    )
    writeFileSync(file, Papa.unparse(agreed))
    await sluice('verdict', 'latest', '--from', file)
    expect((await evaluate('--verdicts')).strata).toHaveLength(2)
    const judged = await evaluate(...LABELS, '--verdicts')
    expect(judged.labels.verdict_rows).toBe(20)
    expect(judged.strata).toBeNull()
    expect(judged.rules).toEqual(before.rules)
  })

  it('does not weight verdicts on two samples, which would count every row twice', async () => {
    const sandbox = await withSandbox()
    const { folder, source, sluice } = openFolder(sandbox.key)
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const judge = async (by: string) => {
      const file = join(folder, `${by}.csv`)
      await sluice('sample', 'latest', file, '--size', '20', '--by', by)
      const rows = readRows(file).map((row) => ({ ...row, sluice_verdict: 'agree' }))
      writeFileSync(file, Papa.unparse(rows))
      await sluice('verdict', 'latest', '--from', file)
      return JSON.parse((await sluice('evaluate', 'latest', '--verdicts', '--json')).stdout) as Evaluation
    }
    expect(await judge('rule')).toMatchObject({ warnings: [], strata: [{ rows: 180 }, { rows: 20 }] })
    const { strata, warnings } = await judge('country')
    expect(strata).toBeNull()
    expect(warnings).toEqual([
      'Verdicts on several samples are not weighted: their groups have 400 rows, and the run has only 200 answered rows.',
    ])
  })

  it('says how many groups have no row in the sample because its size is too small', async () => {
    const { folder, source, sluice } = openFolder()
    const draw = async (size: string) =>
      (await sluice('sample', source, join(folder, 'part.csv'), '--size', size, '--by', 'truth')).stdout
    expect(await draw('1')).toContain('1 group with 40 rows has no row in the sample')
    expect(await draw('4')).not.toContain('no row in the sample')
  })

  it('refuses to replace its source, and columns that do not exist', async () => {
    const { folder, source, sluice } = openFolder()
    expect(await sluice('sample', source, source, '--size', '5')).toMatchObject({ code: 2, stdout: '' })
    const file = join(folder, 'part.csv')
    const unknown = await sluice('sample', source, file, '--size', '5', '--by', 'contry')
    expect(unknown.stderr).toContain('Did you mean `country`?')
    writeFileSync(file, '')
    expect((await sluice('sample', source, file, '--size', '0')).code).toBe(2)
    expect(readFileSync(file, 'utf8')).toBe('')
  })
})
