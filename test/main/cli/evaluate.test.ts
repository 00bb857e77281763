import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Evaluation } from '../../../src/shared/lookback/evaluation.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = [
  'post_id,user_id,text_data,truth,channel',
  // The sandbox's answers: Likely spam, Likely spam with a link, a link, nothing, nothing, nothing, invalid.
  'p1,u1,win a free prize now claim your cash prize,spam,web',
  'p2,u1,claim your free prize now at http://prize.example,spam;link,web',
  'p3,u1,notes are at http://example.com,,web',
  'p4,u1,see you at lunch,spam,app',
  'p5,u1,good morning,ham,app',
  'p6,u1,how was the film,link,app',
  'p_7,u1,not sent,spam,app',
]

async function sendRows() {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const source = writeSource(folder, 'posts.csv', `${ROWS.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const sent = await sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--json', '--quiet')
  const evaluate = async (...args: string[]) => {
    const result = await sluice('evaluate', 'latest', ...args, '--json')
    return { ...result, document: JSON.parse(result.stdout) as Evaluation }
  }
  return { folder, sluice, evaluate, runId: String(JSON.parse(sent.stdout).run_id) }
}

const POSITIVES = ['--positive', 'spam=Likely spam', '--positive', 'link=Contains a link', '--separator', ';']

describe('a column in which only what is wrong has a label', () => {
  const HEADER = 'post_id,user_id,text_data,truth,is_spam'
  const FLAGGED = [
    'p1,u1,win a free prize now claim your cash prize,spam,1',
    'p2,u1,claim your free prize now,,',
    'p3,u1,see you at lunch,spam,1',
    'p4,u1,good morning, ,',
    'p5,u1,how was the film,nan,nan',
  ]

  async function sendFlagged(rows: readonly string[] = FLAGGED) {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', `${HEADER}\n${rows.join('\n')}\n`)
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    const send = async () => {
      await sandbox.admin('DELETE', '/tasks')
      const sent = await sluice('task', source, '--base-url', sandbox.baseUrl, '--json', '--quiet')
      return String(JSON.parse(sent.stdout).run_id)
    }
    const runId = await send()
    return {
      sluice,
      compareWithNext: (...args: string[]) =>
        send().then((next) => sluice('compare', runId, next, ...args, '--json')),
      evaluate: async (...args: string[]) => {
        const { stdout } = await sluice('evaluate', 'latest', ...args, '--json')
        return JSON.parse(stdout) as Evaluation
      },
    }
  }

  it('is said to show no false alarms on rows with nothing wrong', async () => {
    const { compareWithNext, evaluate, sluice } = await sendFlagged()
    const labels = ['--label', 'truth', '--positive', 'spam=Likely spam']
    const { rows, overall, warnings } = await evaluate(...labels)
    expect(rows).toMatchObject({ evaluated: 2, without_label: 3 })
    expect(overall.precision.value).toBe(1)
    expect(warnings).toEqual([
      'Every evaluated row with a label should trigger a rule. False alarms on rows with nothing wrong are not seen, so precision may be far too high.',
      '3 rows without a label are left out. If an empty label means that nothing is wrong, say so under Labels, or with --empty-negative.',
      '1 row with `nan` counts as a row without a label.',
    ])
    const assert = async (assertion: string) => {
      const { code, stderr } = await sluice('evaluate', 'latest', ...labels, '--assert', assertion)
      return {
        code,
        isUnjudged: stderr.includes('cannot be judged: every labelled row should trigger a rule'),
      }
    }
    expect(await assert('precision(Likely spam)>=0.9')).toEqual({ code: 98, isUnjudged: true })
    expect(await assert('recall(Likely spam)>=0.4')).toEqual({ code: 0, isUnjudged: false })
    const compared = await compareWithNext(...labels)
    expect(JSON.parse(compared.stdout).decisions.warnings).toEqual(expect.arrayContaining(warnings))
  })

  it('is said to need the other rows in a file that only lists what is wrong', async () => {
    const { evaluate } = await sendFlagged()
    const file = (name: string, rows: string) =>
      writeSource(createTemporaryFolder(), name, `post_id,truth\n${rows}`)
    const ask = (labels: string) =>
      evaluate(
        ...['--labels', labels, '--key', 'post_id', '--label', 'truth'],
        ...['--positive', 'spam=Likely spam', '--empty-negative'],
      )
    const { rows, warnings } = await ask(file('flagged.csv', 'p1,spam\np3,spam\n'))
    expect(rows).toMatchObject({ evaluated: 2, without_label: 3 })
    expect(warnings).toEqual([
      expect.stringMatching(/^Every evaluated row with a label should trigger a rule\./),
      '3 rows without a label are left out. If nothing is wrong with them, give them a label in the file that says so: `ok`, or an empty one with --empty-negative.',
    ])
    expect(await ask(file('all.csv', 'p1,spam\np2,ok\np3,spam\np4,\np5,ok\n'))).toMatchObject({
      rows: { evaluated: 5 },
      warnings: [],
    })
  })

  it('is said to leave out rows without one, also if some labels stand for no rule', async () => {
    const { compareWithNext, evaluate } = await sendFlagged([...FLAGGED, 'p6,u1,latest deals,advert,'])
    const labels = ['--label', 'truth', '--positive', 'spam=Likely spam']
    const { warnings } = await evaluate(...labels)
    const told =
      '3 rows without a label are left out, and no label says that nothing is wrong. If an empty label means that, say so under Labels, or with --empty-negative: false alarms on these rows are not seen.'
    expect(warnings[0]).toBe(told)
    expect((await evaluate(...labels, '--empty-negative')).warnings).not.toContain(told)
    expect((await evaluate(...labels, '--positive', 'advert=Promotion')).warnings[0]).toContain(
      'Every evaluated',
    )
    const compared = await compareWithNext(...labels)
    expect(JSON.parse(compared.stdout).decisions.warnings).toContain(told)
  })

  it('is not said to lack labels of rows with nothing wrong if one has such a label', async () => {
    const { evaluate } = await sendFlagged([...FLAGGED, 'p6,u1,deals,advert,', 'p7,u1,good night,ham,'])
    const { warnings } = await evaluate('--label', 'truth', '--positive', 'spam=Likely spam')
    expect(warnings.join(' ')).not.toContain('without a label are left out')
  })

  it('is no label of a row of B that has a verdict in A', async () => {
    const { compareWithNext, sluice } = await sendFlagged()
    await sluice('verdict', 'latest', '3', 'agree')
    const labels = ['--label', 'truth', '--positive', 'spam=Likely spam', '--empty-negative', '--verdicts']
    const { decisions } = JSON.parse((await compareWithNext(...labels)).stdout)
    expect(decisions.labels.rules[0].a.precision).toMatchObject({ value: 1 })
  })

  it('leaves the precision of a rule to be judged by rows with another label, or by verdicts', async () => {
    const { evaluate, sluice } = await sendFlagged([
      'p1,u1,win a free prize now claim your cash prize,spam,',
      'p2,u1,claim your free prize now,link,',
    ])
    const labels = [
      '--label',
      'truth',
      '--positive',
      'spam=Likely spam',
      '--positive',
      'link=Contains a link',
    ]
    const judge = (assertion: string, ...of: string[]) =>
      sluice('evaluate', 'latest', ...of, '--assert', assertion)
    expect((await evaluate(...labels)).warnings.join(' ')).toContain('False alarms')
    expect(await judge('precision(Likely spam)<=0.5', ...labels)).toMatchObject({ code: 0 })
    expect(await judge('precision(overall)>=0.5', ...labels)).toMatchObject({ code: 98 })

    await sluice('verdict', 'latest', '2', 'agree')
    expect((await evaluate(...labels, '--verdicts')).warnings.join(' ')).toContain('False alarms')
    expect(await judge('precision(overall)>=0.5', ...labels, '--verdicts')).toMatchObject({ code: 98 })
    expect((await evaluate('--verdicts')).warnings).toEqual([])
    expect(await judge('precision(overall)>=0.5', '--verdicts')).toMatchObject({ code: 0 })
  })

  it.each([['truth', '--positive', 'spam=Likely spam'], ['is_spam=Likely spam']])(
    'counts rows with an empty label with --label %s as those that should trigger nothing',
    async (...label) => {
      const { evaluate } = await sendFlagged()
      const { rows, overall, labels, warnings } = await evaluate('--label', ...label, '--empty-negative')
      expect(rows).toMatchObject({ evaluated: 4, without_label: 1 })
      expect(overall.matrix).toEqual({
        true_positives: 1,
        false_positives: 1,
        false_negatives: 1,
        true_negatives: 1,
      })
      expect(labels.values).toContainEqual({ value: '(empty)', rows: 2, rules: [] })
      expect(labels).not.toHaveProperty('unread')
      expect(warnings).toHaveLength(1)
    },
  )
})

describe('labels as people have them', () => {
  const HEADER = 'post_id,user_id,text_data,is_spam,has_link,listed,share'
  const LABELLED = [
    HEADER,
    'p1,u1,win a free prize now claim your cash prize,1.0,0.0,"[\'Likely spam\']",0.9',
    'p2,u1,claim your free prize now at http://prize.example,1.0,1.0,"[""Likely spam"", ""Contains a link""]",0.8',
    'p3,u1,notes are at http://example.com,nan,nan,nan,nan',
    'p4,u1,see you at lunch,1.0,0.0,"[\'Likely spam\']",0.5',
    'p5,u1,good morning,0.0,0.0,[],0.1',
    "p6,u1,how was the film,-1,-1,['film'],",
  ]

  it('reads a column for each rule, lists, and shares, and says what it did not read', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', `${LABELLED.join('\n')}\n`)
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    await sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet')
    const evaluate = async (...args: string[]) => {
      const { stdout, stderr } = await sluice('evaluate', 'latest', ...args, '--json')
      expect(stderr).toBe('')
      return JSON.parse(stdout) as Evaluation
    }
    const [spamOf, linkOf] = [
      { rule: 'Likely spam', matrix: { true_positives: 2, false_positives: 0, false_negatives: 1 } },
      { rule: 'Contains a link', matrix: { true_positives: 1, false_positives: 0, false_negatives: 0 } },
    ]
    const columns = await evaluate('--label', 'is_spam=Likely spam', '--label', 'has_link=Contains a link')
    expect(columns.rules).toMatchObject([spamOf, linkOf])
    expect(columns.rows).toMatchObject({ evaluated: 4, without_label: 2 })
    expect(columns.warnings.join('\n')).toContain(
      '2 rows with `nan`, `-1` in `is_spam` count as rows without a label: they are neither yes nor no.',
    )

    const lists = await evaluate('--label', 'listed')
    expect(lists.rules.map(({ rule }) => rule).sort()).toEqual(['Contains a link', 'Likely spam'])
    expect(lists.rules.find(({ rule }) => rule === 'Likely spam')).toMatchObject(spamOf)
    expect(lists.rows).toMatchObject({ evaluated: 5, without_label: 1 })
    expect(lists.warnings.join('\n')).toContain('1 row with `nan` counts as a row without a label.')
    expect(lists.labels.unread).toEqual([{ value: 'film', rows: 1 }])
    const told = await sluice('evaluate', 'latest', '--label', 'listed')
    expect(told.stdout).toContain(
      'Labels that stand for no rule count as rows that should trigger none: `film` (1 row).',
    )

    const shares = await evaluate('--label', 'share', '--positive', '>=0.5=Likely spam')
    expect(shares.rules).toMatchObject([spamOf])
    expect(shares.labels.values).toEqual([
      { value: '>=0.5', rows: 3, rules: ['Likely spam'] },
      { value: 'other numbers', rows: 1, rules: [] },
    ])
    const both = await evaluate('--label', 'share>=0.5=Likely spam', '--label', 'has_link=Contains a link')
    expect(both.rules[0]).toMatchObject(spamOf)

    const numbers = await evaluate('--label', 'is_spam', '--positive', '1=Likely spam')
    expect(numbers.rules).toMatchObject([{ rule: 'Likely spam', matrix: { true_positives: 2 } }])
    const refused = await sluice('evaluate', 'latest', '--label', 'is_spam', '--label', 'has_link')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('need a rule each') })
  })
})

describe('evaluate', () => {
  it('judges each file of a source separately', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const [header, ...rows] = ROWS.slice(0, 6)
    const files = [rows.slice(0, 2), rows.slice(2)].map((own, index) =>
      writeSource(folder, `${index}.csv`, `${[header, ...own].join('\n')}\n`),
    )
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    const slice = ['evaluate', 'latest', '--label', 'truth', ...POSITIVES, '--slice', 'file', '--json']
    await sluice('task', ...files, '--base-url', sandbox.baseUrl, '--quiet')
    const { slices } = JSON.parse((await sluice(...slice)).stdout) as Evaluation
    const [file] = slices
    expect(file?.column).toBe('file')
    expect(file?.values.map(({ value, rows: evaluated }) => [value, evaluated])).toEqual([
      ['0.csv', 2],
      ['1.csv', 2],
    ])
    await sluice(
      'task',
      files[0] ?? '',
      '--set',
      'post_id={{run}}-{{row}}',
      '--base-url',
      sandbox.baseUrl,
      '--quiet',
    )
    expect(await sluice(...slice)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`file` is not a column'),
    })
  })

  it('takes values of a slice or group that differ only in outer white space for one', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = [
      'p1,u1,free prize,spam,web',
      'p2,u1,hello,ham,web ',
      'p3,u1,hi,ham,\u00a0web',
      'p4,u1,hey,ham,',
    ]
    const source = writeSource(folder, 'posts.csv', `${ROWS[0]}\n${rows.join('\n')}\n`)
    const sluice = async (...args: string[]) => {
      const own = { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } }
      return JSON.parse((await runInProcess([...args, '--json'], own)).stdout)
    }
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const asked = ['--label', 'truth', '--positive', 'spam=Likely spam', '--slice', 'channel']
    const { slices }: Evaluation = await sluice('evaluate', 'latest', ...asked)
    expect(slices[0]?.values).toMatchObject([
      { value: 'web', rows: 3 },
      { value: '', rows: 1 },
    ])
    for (const drawnFrom of [source, 'latest']) {
      const file = join(folder, `${drawnFrom === source}.csv`)
      expect(await sluice('sample', drawnFrom, file, '--by', 'channel', '--size', '2')).toMatchObject({
        strata: [
          { stratum: 'web', rows: 3 },
          { stratum: '', rows: 1 },
        ],
      })
    }
  })

  it('judges each rule by labels with several values, and counts rows without label or answer separately', async () => {
    onlyInLongForm()
    const { evaluate } = await sendRows()
    const { code, document } = await evaluate('--label', 'truth', ...POSITIVES, '--slice', 'channel')
    expect(code).toBe(0)
    expect(document.rows).toEqual({
      read: 7,
      evaluated: 5,
      without_label: 1,
      unsure: 0,
      conflicting_label: 0,
      without_answer: 1,
    })
    const [spam, link] = document.rules
    expect(spam).toMatchObject({
      rule: 'Likely spam',
      rule_ids: ['rule-spam'],
      matrix: { true_positives: 2, false_positives: 0, false_negatives: 1, true_negatives: 2 },
      precision: { value: 1 },
    })
    expect(link?.matrix).toEqual({
      true_positives: 1,
      false_positives: 0,
      false_negatives: 1,
      true_negatives: 3,
    })
    expect(document.overall.matrix).toEqual({
      true_positives: 2,
      false_positives: 0,
      false_negatives: 2,
      true_negatives: 1,
    })
    const [channel] = document.slices
    expect(channel?.values.map(({ value, rows }) => [value, rows])).toEqual([
      ['app', 3],
      ['web', 2],
    ])
    expect(channel?.values[1]?.rules[0]?.recall.value).toBe(1)
  })

  it('takes labels that are names or ids of rules without a mapping, in either case', async () => {
    onlyInLongForm()
    const { folder, evaluate } = await sendRows()
    const labels = join(folder, 'labels.csv')
    writeFileSync(labels, 'id,rules\np1,likely SPAM\np2,Likely spam|rule-link\np4,none\np9,Likely spam\n')
    const { document } = await evaluate(
      ...['--labels', labels, '--key', 'id=post_id', '--label', 'rules', '--separator', '|'],
    )
    expect(document.rows).toMatchObject({ evaluated: 3, without_label: 4 })
    expect(document.rules.map(({ rule, recall }) => [rule, recall.value])).toEqual([
      ['Likely spam', 1],
      ['Contains a link', 1],
    ])
    expect(document.labels.values).toContainEqual({ value: 'none', rows: 1, rules: [] })
  })

  it('counts a row whose label stands for any rule as found if any rule triggered', async () => {
    onlyInLongForm()
    const { evaluate, sluice } = await sendRows()
    const any = [
      '--label',
      'truth',
      '--separator',
      ';',
      '--positive',
      'spam=any rule',
      '--score',
      'spam=any rule',
    ]
    const { document } = await evaluate(...any, '--list', 'fn:any rule', '--assert', 'recall(any rule)>0.6')
    expect(document.rules.map(({ rule, matrix }) => [rule, Object.values(matrix)])).toEqual([
      ['any rule', [2, 0, 1, 2]],
    ])
    expect(document).toMatchObject({
      labels: { values: [{ value: 'spam', rows: 3, rules: ['any rule'] }, {}, {}] },
      not_judged: [],
      scores: [{ class: 'spam', rule: 'any rule', rows: 5 }],
      listed: [{ rule: 'any rule', total: 1, rows: [{ row: 5, record: 4 }] }],
      warnings: [],
    })

    // A row that should trigger one rule counts for any rule; a verdict takes away a row's only rule.
    const both = await evaluate(...any, '--positive', 'link=Contains a link')
    expect(both.document.rules.map(({ rule, matrix }) => [rule, Object.values(matrix)])).toEqual([
      ['any rule', [2, 0, 2, 1]],
      ['Contains a link', [1, 0, 1, 3]],
    ])
    await sluice('verdict', 'latest', '2', 'should-not', 'Likely spam')
    const judged = await evaluate(...any, '--verdicts')
    expect(Object.values(judged.document.rules[0]?.matrix ?? {})).toEqual([1, 1, 1, 2])
  })

  it('says how to name two columns if the key is missing in the file of labels, or in the run', async () => {
    onlyInLongForm()
    const { folder, sluice } = await sendRows()
    const labels = writeSource(folder, 'named.csv', 'item,rule\np1,spam\n')
    for (const key of ['item', 'post_id']) {
      const asked = ['--labels', labels, '--label', 'rule', '--key', key]
      const { code, stderr } = await sluice('evaluate', 'latest', ...asked)
      expect([key, code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
        ...[key, 2],
        expect.stringContaining('name both: --key FILE_COLUMN=RUN_COLUMN'),
      ])
    }
  })

  it('leaves out rows whose key has contradicting labels', async () => {
    onlyInLongForm()
    const { folder, evaluate } = await sendRows()
    const labels = join(folder, 'labels.csv')
    writeFileSync(labels, 'row,truth\n2,spam\n2,ham\n3,spam\n3,spam\n6,ham\n')
    const { document } = await evaluate(
      ...['--labels', labels, '--key', 'row', '--label', 'truth', '--positive', 'spam=Likely spam'],
    )
    expect(document.rows).toMatchObject({ evaluated: 2, conflicting_label: 1 })
  })

  it('gives each row of a split record its own label, by the post_ids of an export', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    const posts = 'post_id,user_id,text_data,url\np1,u1,win a free prize now,https://a.test/1.png\n'
    const plan = {
      connection: { baseUrl: sandbox.baseUrl },
      source: { path: writeSource(folder, 'posts.csv', posts) },
      operation: { kind: 'task' },
      fixes: [{ kind: 'split' }],
    }
    const file = writeSource(folder, 'posts.plan.json', JSON.stringify(plan))
    await sluice('plan', file, '--trust-plan', '--quiet')
    const labels = writeSource(folder, 'labels.csv', 'sluice_post_id,truth\np1,spam\np1-url,ham\n')
    const asked = ['--label', 'truth', '--positive', 'spam=Likely spam', '--labels', labels]
    const evaluated = await sluice('evaluate', 'latest', ...asked, '--key', 'sluice_post_id', '--json')
    expect(JSON.parse(evaluated.stdout)).toMatchObject({
      rows: { evaluated: 2 },
      labels: { values: [{ rows: 1 }, { rows: 1 }] },
      warnings: [],
    })
  })

  it('names the column of several that it slices, or joins the rows of two runs, by', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(
      folder,
      'posts.csv',
      'post_id,user_id,text_data,truth,part,part\na,u,free prize,spam,x,y\nb,u,hello,ham,y,y\n',
    )
    const sluice = async (...args: string[]) => {
      const own = { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } }
      return JSON.parse((await runInProcess([...args, '--json'], own)).stdout)
    }
    const { run_id: a } = await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    await sandbox.admin('DELETE', '/tasks')
    const { run_id: b } = await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const said =
      '`part` is the name of columns 5 and 6; column 5 is used. To use another, name it by its number.'
    const slice = ['evaluate', b, '--label', 'truth', '--positive', 'spam=Likely spam', '--slice']
    expect((await sluice(...slice, 'part')).warnings).toEqual([said])
    expect((await sluice(...slice, '6')).warnings).toEqual([])
    expect((await sluice('compare', a, b, '--by', 'part')).decisions.warnings).toContain(said)
    expect((await sluice('compare', a, b, '--by', '6')).decisions.warnings).not.toContain(said)
  })

  it('gives a label without a key to no row, not even to one with an empty key', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = [
      'ref,user_id,text_data',
      ',u1,win a free prize now',
      'a,u1,good morning',
      ',u1,see you at lunch',
    ]
    const source = writeSource(folder, 'posts.csv', `${rows.join('\n')}\n`)
    const labels = writeSource(folder, 'labels.csv', 'ref,truth\n,spam\na,ham\nA,ham\n')
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const asked = ['--labels', labels, '--key', 'ref', '--label', 'truth', '--positive', 'spam=Likely spam']
    const refused = await sluice('evaluate', 'latest', ...asked, '--json')
    expect(JSON.parse(refused.stdout)).toMatchObject({
      rows: { evaluated: 1, without_label: 2 },
      warnings: expect.arrayContaining([
        '2 of 3 labels in the file match no row of the run by `ref`, such as that in row 2.',
      ]),
    })
  })

  it('lists and exports the rows of a cell', async () => {
    onlyInLongForm()
    const { folder, evaluate } = await sendRows()
    const file = join(folder, 'missed.csv')
    const { document } = await evaluate(
      ...[
        '--label',
        'truth',
        ...POSITIVES,
        '--list',
        'fn:likely spam',
        '--list',
        'tn:overall',
        '--export',
        file,
      ],
    )
    expect(document.listed).toMatchObject([
      { cell: 'fn', rule: 'Likely spam', total: 1, rows: [{ row: 5, label: 'spam', triggered_rules: [] }] },
      { cell: 'tn', rule: null, total: 1, rows: [{ row: 6 }] },
    ])
    const lines = readFileSync(file, 'utf8').trimEnd().split('\r\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toContain('sluice_label,sluice_cell.Likely spam,sluice_cell.Contains a link')
    expect(lines[1]).toMatch(/^p4,u1,see you at lunch,spam,app,spam,fn,tn,5,succeeded/)
    expect(document.exported).toMatchObject({ file, rows: 2 })
  })

  it('fails an assertion on an average if a label names a rule that no row triggered', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = [
      'u1,win a free prize now,Likely spam',
      'u1,see you at lunch,Contains a link',
      'u1,hello,ham',
    ]
    const source = writeSource(folder, 'posts.csv', `user_id,text_data,truth\n${rows.join('\n')}\n`)
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const assert = (...args: string[]) => sluice('evaluate', 'latest', '--label', 'truth', ...args)
    expect(await assert('--assert', 'recall(Likely spam)>=0.9')).toMatchObject({ code: 0 })
    for (const average of ['overall', 'macro', 'micro']) {
      const { code, stdout, stderr } = await assert('--assert', `recall(${average})>=0.5`)
      expect(code, stdout).toBe(99)
      expect(stdout).toContain(`✗ recall(${average})>=0.5  no value`)
      expect(stderr).toContain(`1 assertion failed: recall(${average})>=0.5 (found no value).`)
      expect(stderr).toContain('`Contains a link` (1 row). Pass --positive for each rule')
    }
    const positives = ['Likely spam', 'Contains a link'].flatMap((rule) => ['--positive', `${rule}=${rule}`])
    const known = await assert('--assert', 'recall(overall)>=0.9', ...positives)
    expect(known.stderr).toContain('recall(overall)>=0.9 (found 0.5)')
  })

  it('exits with 98 if most labelled rows have no answer, and says how many have none', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
    const send = (answered: number, ...args: string[]) => {
      // Rows with such an id are invalid.
      const ids = [1, 2, 3, 4, 5].map((i) => `p${i <= answered ? '' : '_'}${answered}-${i}`)
      const rows = ids.map((id) => `${id},u1,claim your free prize now,Likely spam`)
      const content = `${['post_id,user_id,text_data,truth', ...rows].join('\n')}\n`
      const source = writeSource(folder, `posts-${answered}.csv`, content)
      return sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet', ...args)
    }
    const evaluate = (...args: string[]) =>
      sluice('evaluate', 'latest', '--label', 'truth', '--assert', 'recall(Likely spam)>=0.9', ...args)
    await send(2)
    const most = await evaluate('--json')
    expect(most.code).toBe(98)
    expect(most.stderr).toContain('3 of 5 labelled rows have no answer')
    const { assertions, rows, warnings } = JSON.parse(most.stdout) as Evaluation
    expect(assertions).toMatchObject([{ ok: true }])
    expect(rows).toMatchObject({ evaluated: 2, without_answer: 3 })
    expect(warnings).toContain('3 of 5 labelled rows have no answer: figures are about the other 2.')
    expect(await evaluate('--assert', 'recall(Likely spam)<0.5')).toMatchObject({ code: 99 })
    await send(3)
    const some = await evaluate()
    expect(some).toMatchObject({ code: 0, stderr: expect.stringContaining('2 of 5 labelled rows have no') })
    // The rows after a trial were never sent.
    await send(5, '--limit', '1')
    expect(await evaluate()).toMatchObject({ code: 0 })
  })

  it('exits with 98 if no labelled row has an answer, and with 2 without assertions', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: 'refused' } })
    const source = writeSource(
      folder,
      'posts.csv',
      'user_id,text_data,truth\nu1,claim your free prize,Likely spam\n',
    )
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
    const said = expect.stringContaining('1 labelled row')
    expect(
      await sluice('evaluate', 'latest', '--label', 'truth', '--assert', 'recall(Likely spam)>=0.9'),
    ).toMatchObject({ code: 98, stderr: said })
    expect(await sluice('evaluate', 'latest', '--label', 'truth')).toMatchObject({ code: 2 })
  })

  it('exits with 99 if an assertion fails, and reports the value', async () => {
    onlyInLongForm()
    const { evaluate, sluice } = await sendRows()
    const labels = ['--label', 'truth', ...POSITIVES]
    const holds = await evaluate(...labels, '--assert', 'precision(Likely spam)>=0.9')
    expect(holds).toMatchObject({ code: 0, document: { assertions: [{ value: 1, ok: true }] } })
    const fails = await sluice('evaluate', 'latest', ...labels, '--assert', 'recall(overall) > 0.9')
    expect(fails).toMatchObject({ code: 99 })
    expect(fails.stderr).toContain('1 assertion failed: recall(overall) > 0.9 (found 0.5)')
    const unknown = await sluice('evaluate', 'latest', ...labels, '--assert', 'recall(Spam)>0.9')
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('`Likely spam`, `Contains a link`')
  })

  it('shows what another threshold would have found, without sending again', async () => {
    onlyInLongForm()
    const { evaluate } = await sendRows()
    const { document } = await evaluate(
      ...[
        '--label',
        'truth',
        ...POSITIVES,
        '--threshold',
        'spam=9',
        '--precision',
        '100%',
        '--slice',
        'language',
      ],
    )
    expect(document.scores).toMatchObject([
      {
        class: 'spam',
        rule: 'Likely spam',
        rows: 5,
        what_if: [{ threshold: 9, true_positives: 0, recall: 0 }],
      },
    ])
    expect(document.slices[0]?.values[0]).toMatchObject({ value: 'EN' })
  })

  it('says what is missing if nothing can be evaluated', async () => {
    onlyInLongForm()
    const { sluice } = await sendRows()
    const expectRefused = async (args: string[], text: RegExp) => {
      const result = await sluice('evaluate', 'latest', ...args)
      expect(result).toMatchObject({ code: 2, stdout: '' })
      expect(result.stderr).toMatch(text)
    }
    await expectRefused([], /--label COLUMN/)
    await expectRefused(['--label', 'thruth'], /Did you mean `truth`\?/)
    await expectRefused(
      ['--label', 'truth'],
      /none of the labels is the name of a rule; labels: `spam`.*--positive/s,
    )
    await expectRefused(['--label', 'truth', '--positive', 'spam'], /VALUE=RULE/)
    await expectRefused(['--label', 'truth', '--labels', 'x.csv'], /--key/)
    await expectRefused(['--label', 'truth', '--assert', 'recall(Spam)>=90'], /a share from 0 to 1/)
  })

  it('refuses labels in --positive that no row has, and warns if some of them are mistyped', async () => {
    onlyInLongForm()
    const { sluice, runId } = await sendRows()
    const evaluate = (...values: string[]) =>
      sluice('evaluate', runId, '--label', 'truth', ...values.flatMap((value) => ['--positive', value]))
    const mistyped = await evaluate('spma=Likely spam', 'SCAM=Likely spam')
    expect(mistyped).toMatchObject({ code: 2, stdout: '' })
    expect(mistyped.stderr).toContain(
      'no evaluated row has the labels `spma`, `SCAM`; labels: `spam`, `spam;link`, `ham`, `link`',
    )
    const { code, stdout } = await evaluate('spam=Likely spam', 'scam=Scams', 'spam;lnk=Likely spam')
    expect(code).toBe(0)
    expect(stdout).toContain('! No row has the label `scam`.')
    expect(stdout).toContain('! No row has the label `spam;lnk`.')
    expect(stdout).not.toContain('has the label `spam`')
    expect(stdout).toContain('! No row triggered the rule `Scams`.')
    expect(stdout).toMatch(/precision +– +no such rows/)
    const compared = await sluice(
      ...['compare', runId, runId, '--by', 'row', '--label', 'truth'],
      ...['--positive', 'spam=Likely spam', '--positive', 'scam=Likely spam'],
    )
    expect(compared.stderr).toBe('')
    expect(compared.stdout).toContain('No row has the label `scam`.')
  })

  it('says before rows are sent, and when scores are requested, that answers have none', async () => {
    onlyInLongForm()
    const { folder, sluice } = await sendRows()
    const source = join(folder, 'posts.csv')
    const send = ['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run']
    expect((await sluice(...send)).stdout).toMatch(/Scores +answers have none; --legacy requests them/)
    for (const more of [['--legacy'], ['--api', 'v2']])
      expect((await sluice(...send, ...more)).stdout).not.toContain('Scores')
    const sandbox = await withSandbox()
    const ran = await runInProcess(['task', source, '--base-url', sandbox.baseUrl, '--json', '--quiet'], {
      workspace: join(folder, 'bare'),
      env: { SLUICE_API_KEY: sandbox.key },
    })
    const evaluated = await runInProcess(
      [
        ...['evaluate', JSON.parse(ran.stdout).run_id, '--label', 'truth', ...POSITIVES],
        ...['--threshold', 'spam=2', '--precision', '0.9'],
      ],
      { workspace: join(folder, 'bare') },
    )
    expect(evaluated.stdout).toContain(
      '! No row has class scores. Answers contain scores where a run asks for',
    )
  })

  it('shows the false alarms of rows that all are labelled as harmless', async () => {
    onlyInLongForm()
    const { sluice, folder, runId } = await sendRows()
    const labels = writeSource(folder, 'harmless.csv', 'row,truth\n2,ham\n5,ham\n')
    const { code, stdout } = await sluice(
      ...['evaluate', runId, '--labels', labels, '--key', 'row', '--label', 'truth'],
      ...['--positive', 'spam=Likely spam'],
    )
    expect(code).toBe(0)
    expect(stdout).toContain('! No row has the label `spam`.')
    expect(stdout).toMatch(/should not +1 +1/)
  })
})
