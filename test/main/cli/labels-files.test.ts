import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Evaluation } from '../../../src/shared/lookback/evaluation.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** A run of one flagged and two other posts, and a function to evaluate it by a file of labels. */
async function sendPosts() {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const posts = ['p1,u1,win a free prize now', 'p2,u1,see you at lunch', 'p3,u1,good morning']
  const source = writeSource(folder, 'posts.csv', `post_id,user_id,text_data\n${posts.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
  await sluice('task', source, '--base-url', sandbox.baseUrl, '--quiet')
  const evaluate = async (labels: string, label = 'truth') => {
    const asked = ['--labels', labels, '--key', 'post_id', '--label', label, '--positive', 'spam=Likely spam']
    return JSON.parse((await sluice('evaluate', 'latest', ...asked, '--json')).stdout) as Evaluation
  }
  return { folder, evaluate }
}

it('leaves out broken rows of a file of labels, and names the column of several that it reads', async () => {
  const { folder, evaluate } = await sendPosts()
  const rows = ['post_id,note,truth,truth', 'p1,,spam,ham', 'p2,so, so,spam,ham', 'p3,,ham,spam']
  const labels = writeSource(folder, 'labels.csv', `${rows.join('\n')}\n`)
  const left =
    '1 row of the file of labels is left out, such as row 3: must have at most 4 cells, like the header.'
  expect(await evaluate(labels)).toMatchObject({
    rows: { evaluated: 2 },
    overall: { matrix: { true_positives: 1, true_negatives: 1 } },
    warnings: [
      '`truth` is the name of columns 3 and 4; column 3 is used. To use another, name it by its number.',
      left,
    ],
  })
  expect(await evaluate(labels, '4')).toMatchObject({
    overall: { matrix: { false_positives: 1, false_negatives: 1 } },
    warnings: [left],
  })
})

it('says if other sheets of a file of labels have the same columns', async () => {
  const { folder, evaluate } = await sendPosts()
  const toSheet = (name: string, ...rows: string[][]) => {
    const toRow = (cells: string[]) =>
      `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`
    return { name, rows: [['post_id', 'truth'], ...rows].map(toRow).join('') }
  }
  const sheets = [toSheet('Ann', ['p1', 'spam'], ['p2', 'ham']), toSheet('Ben', ['p3', 'spam'])]
  const labels = join(folder, 'labels.xlsx')
  writeFileSync(labels, await createWorkbook({ sheets }))
  expect(await evaluate(labels)).toMatchObject({
    rows: { evaluated: 2 },
    warnings: [
      'Of the file of labels, only the sheet "Ann" is read. These have the same columns: "Ben" (1 row).',
    ],
  })
})

it('says that a label of several rows counts for each, as for both rows of a split record', async () => {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'w'), env: { SLUICE_API_KEY: sandbox.key } })
  const posts = [
    'post_id,user_id,text_data,url,truth',
    'p1,u1,win a free prize now,https://a.test/1.png,spam',
    'p2,u2,good morning,,ham',
  ]
  const plan = {
    connection: { baseUrl: sandbox.baseUrl },
    source: { path: writeSource(folder, 'posts.csv', `${posts.join('\n')}\n`) },
    operation: { kind: 'task' },
    fixes: [{ kind: 'split' }],
  }
  await sluice('plan', writeSource(folder, 'p.plan.json', JSON.stringify(plan)), '--trust-plan', '--quiet')
  const labels = writeSource(folder, 'labels.csv', 'post_id,truth\np1,spam\np2,ham\n')
  const evaluate = async (...args: string[]) => {
    const asked = ['evaluate', 'latest', '--label', 'truth', '--positive', 'spam=Likely spam', '--json']
    return JSON.parse((await sluice(...asked, ...args)).stdout) as Evaluation
  }
  const [ofColumn, ofFile] = [await evaluate(), await evaluate('--labels', labels, '--key', 'post_id')]
  for (const { overall } of [ofColumn, ofFile]) expect(overall.matrix).toMatchObject({ false_negatives: 1 })
  expect(ofColumn.warnings).toEqual([
    '1 record was sent as two rows, text and URL. Both count with the label of their record, so what only one of them shows is missed on the other. To label each, use a file with row numbers such as `2a` and `2b`.',
  ])
  expect(ofFile.warnings).toEqual([
    '1 of 2 labels in the file matches several rows of the run by `post_id`, such as that in row 2. Each of these rows counts.',
  ])
})
