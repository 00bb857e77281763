import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RunReport } from '../../../src/shared/lookback/run-report.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

it('writes a report with an evaluation, prints it as a document, and exits with 99 if an assertion fails', async () => {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const rows = ['buy cheap viagra pills now,u1,spam', 'hello there,u2,ham', 'free prize click here,u3,spam']
  const source = writeSource(folder, 'posts.csv', `text_data,user_id,truth\n${rows.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  await sluice('task', source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet')

  const file = join(folder, 'report.html')
  const labels = ['--label', 'truth', '--positive', 'spam=Likely spam', '--assert', 'recall(Likely spam)>1']
  const failed = await sluice('report', 'latest', file, '--json', ...labels)
  expect(failed).toMatchObject({ code: 99, stderr: expect.stringContaining('1 assertion failed') })
  const document = JSON.parse(failed.stdout) as RunReport
  expect(document).toMatchObject({ has_content: false, written: { file }, evaluation: { rows: { read: 3 } } })
  expect(readFileSync(file, 'utf8')).toContain('<h2>Evaluation</h2>')

  const unnamed = await sluice('report', 'latest')
  expect(unnamed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Name a file that ends in .html'),
  })
  const unlabelled = await sluice('report', 'latest', join(folder, 'other.html'), '--slice', 'truth')
  expect(unlabelled).toMatchObject({ code: 2, stderr: expect.stringContaining('--slice needs labels') })
  expect(existsSync(join(folder, 'other.html'))).toBe(false)
})
