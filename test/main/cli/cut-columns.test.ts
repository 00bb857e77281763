import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** Sends a row, of which the answers have so many classes and rules. */
async function sendRow(count: number) {
  const folder = createTemporaryFolder()
  const names = Array.from({ length: count }, (_, index) => `n${index}`)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const rules = names.map((name) => ({ rule_id: name, rule_name: name }))
      const classes = names.map((name) => ({ class: name, score: 0.5 }))
      const status = [
        { response: { output: [{ time: 0, classes }] }, status: { code: '0', message: 'SUCCESS' } },
      ]
      wire.send(200, { ...toTaskAnswer(request, rules), status })
    },
  })
  const sluice = (...given: string[]) =>
    runInProcess(given, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const source = writeSource(folder, 'posts.csv', createRows(1))
  const send = () => sluice('task', source, '--legacy', '--base-url', server.baseUrl, '--json')
  const { run_id: runId } = JSON.parse((await send()).stdout)
  return { sluice, send, runId, file: join(folder, 'results.csv') }
}

/** Exports such a run. */
async function exportRun(count: number, ...args: string[]) {
  const { sluice, file } = await sendRow(count)
  const exported = await sluice('export', 'latest', file, ...args)
  const { stdout } = await sluice('export', 'latest', file, ...args, '--json')
  return { stdout: exported.stdout, document: JSON.parse(stdout) }
}

const CLASSES = 'The run has more than 1,000 classes, and the file has 1,000 of them. JSON lines have all'
const RULES = 'The run has more than 1,000 rules, and the file has 1,000 of them. JSON lines have all'

it('says that a table has not all classes or rules as columns', async () => {
  const { stdout, document } = await exportRun(1_001, '--rules-as-columns')
  expect(stdout).toContain(CLASSES)
  expect(stdout).toContain(RULES)
  expect(document.columns_left_out).toEqual(['classes', 'rules'])
})

it('says nothing of classes and rules that a table has, or was not asked for', async () => {
  const all = await exportRun(1_000, '--rules-as-columns')
  expect(all.document).not.toHaveProperty('columns_left_out')
  const asked = await exportRun(1_001, '--columns', 'source,score.n1000')
  expect(asked.document).not.toHaveProperty('columns_left_out')
  expect(asked.stdout).not.toContain('1,000')
})

it('says the same of the rows that an evaluation and a comparison write', async () => {
  const { sluice, send, runId, file } = await sendRow(1_001)
  const evaluate = ['evaluate', runId, '--label', 'user_id', '--positive', 'u0=n0', '--export', file]
  expect((await sluice(...evaluate)).stdout).toContain(CLASSES)
  await send()
  const compared = await sluice('compare', runId, 'latest', '--export', file, '--overwrite', '--json')
  expect(JSON.parse(compared.stdout).decisions.exported.columns_left_out).toEqual(['classes'])
})

it('says of batch output that it lacks rules, and nothing of lines that have all', async () => {
  const { sluice, file } = await sendRow(1_001)
  const toDocument = async (ending: string) =>
    JSON.parse((await sluice('export', 'latest', file.replace('.csv', ending), '--json')).stdout)
  expect((await toDocument('.batch-output.jsonl')).columns_left_out).toEqual(['rules'])
  expect(await toDocument('.jsonl')).not.toHaveProperty('columns_left_out')
})
