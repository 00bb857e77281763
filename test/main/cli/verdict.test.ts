import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Evaluation } from '../../../src/shared/lookback/evaluation.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** Rows 2 and 3 of the spreadsheet trigger Likely spam, row 4 nothing. */
const POSTS = `post_id,user_id,text_data,truth
p1,u1,sandbox:spam:3,spam
p2,u1,sandbox:spam:2,spam
p3,u1,hello,ham
p4,u1,hello again,ham
`

async function sendPosts(faults: string[] = []) {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox({ faults, seed: 'verdicts' })
  const source = writeSource(folder, 'posts.csv', POSTS)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  await sluice('task', source, '--base-url', sandbox.baseUrl, '--json', '--quiet', '--retries', '0')
  const evaluate = async (...args: string[]) =>
    JSON.parse((await sluice('evaluate', 'latest', '--verdicts', ...args, '--json')).stdout) as Evaluation
  return { folder, workspace, sluice, evaluate }
}

describe('verdicts', () => {
  it('of a row on several rules come back from an export, whatever the names of the rules', async () => {
    onlyInLongForm()
    const { folder, sluice } = await sendPosts()
    const given = [
      ['2', 'should', 'spam; adverts'],
      ['2', 'should', '["x"]'],
      ['3', 'should-not', 'a; b'],
      ['4', 'should', '-5'],
      ['4', 'should-not', '=1+1'],
    ]
    for (const one of given) expect((await sluice('verdict', 'latest', ...one)).code).toBe(0)
    const list = async () => {
      const { verdicts } = JSON.parse((await sluice('verdict', 'latest', '--json')).stdout)
      return verdicts.map(({ record, verdict, rule }: Record<string, unknown>) => [record, verdict, rule])
    }
    const before = await list()
    expect(before).toHaveLength(5)
    for (const name of ['all.csv', 'all.csv.gz', 'all.xlsx']) {
      await sluice('export', 'latest', join(folder, name))
      for (const row of ['2', '3', '4']) await sluice('verdict', 'latest', row, '--remove')
      expect(await list()).toEqual([])
      expect(await sluice('verdict', 'latest', '--from', join(folder, name))).toMatchObject({ code: 0 })
      expect(await list()).toEqual(before)
    }
  })

  it('are labels of an evaluation, alone or in the place of a label', async () => {
    onlyInLongForm()
    const { sluice, evaluate } = await sendPosts()
    await sluice('verdict', 'latest', '2', 'agree')
    await sluice('verdict', 'latest', '3', 'should-not', 'Likely spam', '--note', 'quotes an advert')
    await sluice('verdict', 'latest', '4', 'should', 'bullying')
    const shown = await sluice('verdict', 'latest', '5', 'unsure')
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.stdout).toMatch(/5 +unsure/)
    const { rows, rules } = await evaluate()
    expect(rows).toMatchObject({ evaluated: 3, unsure: 1, without_label: 0 })
    expect(rules.map(({ rule, matrix }) => [rule, Object.values(matrix)])).toEqual([
      ['Likely spam', [1, 1, 0, 1]],
      ['bullying', [0, 0, 1, 2]],
    ])
    const mixed = await evaluate('--label', 'truth', '--positive', 'spam=Likely spam')
    expect(mixed.rules[0]?.matrix).toMatchObject({ true_positives: 1, false_positives: 1 })
  })

  it('against a rule that the row did not trigger change nothing, and are told', async () => {
    const { sluice, evaluate } = await sendPosts()
    await sluice('verdict', 'latest', '2', 'should-not', 'Likely spam')
    await sluice('verdict', 'latest', '3', 'should-not', 'Likley spam')
    const { rules, warnings } = await evaluate()
    expect(rules[0]?.matrix).toMatchObject({ true_positives: 1, false_positives: 1 })
    expect(warnings).toContain(
      '1 row has a verdict against a rule that did not trigger on it. Such a verdict changes nothing: check the name of the rule.',
    )
  })

  it('do not stand in for the meaning of labels, and judge no further rule where labels are mapped', async () => {
    onlyInLongForm()
    const { sluice, evaluate } = await sendPosts()
    await sluice('verdict', 'latest', '2', 'agree')
    await sluice('verdict', 'latest', '4', 'should', 'bullying')
    const unmapped = await sluice('evaluate', 'latest', '--verdicts', '--label', 'truth')
    expect(unmapped).toMatchObject({ code: 2, stdout: '' })
    expect(unmapped.stderr).toMatch(/none of the labels is the name of a rule; labels: `spam`, `ham`/)
    const mapped = await evaluate('--label', 'truth', '--positive', 'spam=Likely spam')
    expect(mapped.rules.map(({ rule }) => rule)).toEqual(['Likely spam'])
    expect(mapped.labels).toMatchObject({ from: ['column', 'verdicts'], verdict_rows: 2 })
  })

  it('are listed, removed, exported and imported, all of a file or none', async () => {
    const { folder, sluice } = await sendPosts()
    await sluice('verdict', 'latest', '3', 'should-not', 'Likely spam', '--note', 'quotes, an advert')
    await sluice('verdict', 'latest', '2', 'agree')
    const file = join(folder, 'verdicts.csv')
    expect((await sluice('verdict', 'latest', '--export', file)).stdout).toContain('2 verdicts in')
    const exported = readFileSync(file, 'utf8')
    expect(exported).toContain('p2,u1,sandbox:spam:2,spam,3,2,should-not,Likely spam,"quotes, an advert",')
    await sluice('verdict', 'latest', '2', '--remove')
    await sluice('verdict', 'latest', '3', '--remove')
    expect((await sluice('verdict', 'latest')).stdout).toBe('No verdicts.\n')
    expect((await sluice('verdict', 'latest', '--from', file)).stdout).toBe('2 verdicts stored\n')
    const { verdicts } = JSON.parse((await sluice('verdict', 'latest', '--json')).stdout)
    expect(verdicts).toMatchObject([
      { row: 2, record: 1, verdict: 'agree', rule: null },
      { row: 3, record: 2, verdict: 'should-not', rule: 'Likely spam', note: 'quotes, an advert' },
    ])
    writeFileSync(file, 'row,sluice_verdict,sluice_rule\n4,agree,\n5,should,\n')
    const refused = await sluice('verdict', 'latest', '--from', file)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('row 3: should needs a rule')
    expect(JSON.parse((await sluice('verdict', 'latest', '--json')).stdout).verdicts).toHaveLength(2)
  })

  it('of a file replace all others on its rows, and the replaced ones are told', async () => {
    const { folder, sluice } = await sendPosts()
    await sluice('verdict', 'latest', '2', 'should', 'bullying', '--note', 'rude')
    await sluice('verdict', 'latest', '3', 'agree')
    await sluice('verdict', 'latest', '5', 'agree')
    const file = join(folder, 'theirs.csv')
    writeFileSync(file, 'row,sluice_verdict,sluice_rule\n2,should-not,Likely spam\n3,agree,\n4,agree,\n')
    expect((await sluice('verdict', 'latest', '--from', file)).stdout).toBe(
      '3 verdicts stored\n1 row had other verdicts, which these replace:\n' +
        '  2: should trigger bullying (rude) → should not trigger Likely spam\n',
    )
    const { verdicts } = JSON.parse((await sluice('verdict', 'latest', '--json')).stdout)
    expect(verdicts).toMatchObject([
      { row: 2, verdict: 'should-not', rule: 'Likely spam', note: null },
      { row: 3, verdict: 'agree' },
      { row: 4, verdict: 'agree' },
      { row: 5, verdict: 'agree' },
    ])
  })

  it('are in every export of the run, which can be imported again', async () => {
    onlyInLongForm()
    const { folder, sluice } = await sendPosts()
    const file = join(folder, 'posts-out.csv')
    const exportTo = async (path: string, ...args: string[]) => {
      expect(await sluice('export', 'latest', path, ...args)).toMatchObject({ code: 0 })
      return readFileSync(path, 'utf8')
    }
    expect(await exportTo(file)).not.toContain('sluice_verdict')
    await sluice('verdict', 'latest', '2', 'agree')
    await sluice('verdict', 'latest', '3', 'should-not', 'Likely spam', '--note', 'quotes an advert')
    await sluice('verdict', 'latest', '3', 'should', 'bullying', '--note', 'quotes an advert')
    const columns = ['--columns', 'sluice_row,sluice_verdict,sluice_rule,sluice_note']
    expect((await exportTo(file, ...columns)).slice(1).split('\r\n')).toEqual([
      'sluice_row,sluice_verdict,sluice_rule,sluice_note',
      '2,agree,,',
      '3,"should-not; should","Likely spam; bullying",quotes an advert',
      '4,,,',
      '5,,,',
      '',
    ])
    const lines = (await exportTo(join(folder, 'out.jsonl'))).trimEnd().split('\n')
    const judged = lines.map((line) => JSON.parse(line).verdicts)
    expect(judged.map((verdicts) => verdicts.length)).toEqual([1, 2, 0, 0])
    expect(judged[1]?.[1]).toEqual({
      verdict: 'should',
      rule: 'bullying',
      note: 'quotes an advert',
      given_at: expect.stringMatching(/^20\d\d-/),
    })
    const list = async () => JSON.parse((await sluice('verdict', 'latest', '--json')).stdout).verdicts
    const before = (await list()).map(({ given_at: _, ...verdict }: { given_at: string }) => verdict)
    await exportTo(file)
    await sluice('verdict', 'latest', '2', '--remove')
    await sluice('verdict', 'latest', '3', '--remove')
    expect((await sluice('verdict', 'latest', '--from', file)).stdout).toBe('3 verdicts stored\n')
    expect(await list()).toMatchObject(before)
    writeFileSync(file, 'row,sluice_verdict,sluice_rule\n4,should; should,bullying\n')
    const refused = await sluice('verdict', 'latest', '--from', file)
    expect(refused.stderr).toContain('row 2: 2 verdicts need as many rules, and sluice_rule has 1')
  })

  it('stay with a run through a retry, and go when the run is deleted', async () => {
    onlyInLongForm()
    const { workspace, sluice, evaluate } = await sendPosts(['422=50%,tries=1'])
    for (const row of ['2', '3', '4']) await sluice('verdict', 'latest', row, 'should', 'Likely spam')
    const before = (await evaluate()).rows
    expect(before.without_answer).toBeGreaterThan(0)
    await sluice('retry', 'latest', '--quiet', '--json')
    const { rows, rules } = await evaluate()
    expect(rows).toMatchObject({ evaluated: 3, without_answer: 0, without_label: 1 })
    expect(rules[0]?.matrix).toMatchObject({ true_positives: 2, false_negatives: 1 })
    await sluice('delete', 'latest', '--yes')
    expect(readdirSync(join(workspace, 'runs'))).toEqual([])
  })

  it('of a file with a row that is not one of its table are refused', async () => {
    const { folder, sluice } = await sendPosts()
    const file = writeSource(
      folder,
      'verdicts.csv',
      'row,sluice_verdict,sluice_note\n2,agree,fine\n3,agree,a, b\n',
    )
    expect(await sluice('verdict', 'latest', '--from', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('row 3: must have at most 3 cells, like the header'),
    })
    expect(JSON.parse((await sluice('verdict', 'latest', '--json')).stdout).verdicts).toEqual([])
  })

  it('of a file with two columns of one name are refused, since either may be meant', async () => {
    const { folder, sluice } = await sendPosts()
    const header = 'row,sluice_verdict,sluice_note,sluice_verdict'
    const file = writeSource(folder, 'verdicts.csv', `${header}\n2,agree,,unsure\n`)
    expect(await sluice('verdict', 'latest', '--from', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('verdicts.csv has several columns called sluice_verdict: 2 and 4'),
    })
    expect(JSON.parse((await sluice('verdict', 'latest', '--json')).stdout).verdicts).toEqual([])
    const other = 'row,sluice_verdict,mine,mine'
    const fine = writeSource(folder, 'fine.csv', `${other}\n2,agree,,unsure\n`)
    expect(await sluice('verdict', 'latest', '--from', fine)).toMatchObject({ code: 0 })
  })

  it('of a workbook say which sheet they are read from if others have the same columns', async () => {
    const { folder, sluice } = await sendPosts()
    const toSheet = (name: string, ...rows: string[][]) => ({
      name,
      rows: [['row', 'sluice_verdict'], ...rows]
        .map((cells) => cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join(''))
        .map((cells) => `<row>${cells}</row>`)
        .join(''),
    })
    const file = join(folder, 'verdicts.xlsx')
    const sheets = [toSheet('Ann', ['2', 'agree'], ['3', 'agree']), toSheet('Ben', ['4', 'unsure'])]
    writeFileSync(file, await createWorkbook({ sheets }))
    const said =
      'Of the file of verdicts, only the sheet "Ann" is read. These have the same columns: "Ben" (1 row).'
    const told = await sluice('verdict', 'latest', '--from', file)
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('2 verdicts stored') })
    expect(told.stderr).toContain(said)
    expect((await sluice('verdict', 'latest', '--from', file, '--json')).stderr).toContain(said)
  })

  it('cannot agree with a row that was not answered, since there are no triggered rules', async () => {
    const { folder, sluice } = await sendPosts(['422=100%'])
    const file = writeSource(folder, 'verdicts.csv', 'row,sluice_verdict\n3,unsure\n4,agree\n')
    const imported = await sluice('verdict', 'latest', '--from', file)
    expect([imported.code, imported.stderr]).toEqual([
      2,
      expect.stringContaining('row 3: its row of the run has no result'),
    ])
    const refused = await sluice('verdict', 'latest', '2', 'agree')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('row 2 is rejected, so it has no triggered rules to agree with')
    expect(JSON.parse((await sluice('verdict', 'latest', '--json')).stdout).verdicts).toEqual([])
    expect(await sluice('verdict', 'latest', '2', 'should', 'bullying')).toMatchObject({ code: 0 })
  })

  it('are refused with what is missing or wrong', async () => {
    const { sluice } = await sendPosts()
    const expectRefused = async (args: string[], text: RegExp) => {
      const result = await sluice('verdict', 'latest', ...args)
      expect(result.code).toBe(2)
      expect(result.stderr).toMatch(text)
    }
    await expectRefused(['2'], /--remove/)
    await expectRefused(['2', 'should'], /should needs a rule/)
    await expectRefused(['2', 'agree', 'Likely spam'], /does not take a rule/)
    await expectRefused(['2', 'maybe'], /agree, should, should-not, unsure/)
    await expectRefused(['9', 'agree'], /has no row 9/)
  })
})
