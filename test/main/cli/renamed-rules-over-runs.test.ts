import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const TRUTH = ['Spam', 'ham', 'ham', 'ham']

/** Sends four rows twice; `toRules` says what each triggers in the first run (0) and in the second (1). */
async function sendTwice(toRules: (row: number, run: number) => [id: string, name: string][]) {
  const folder = createTemporaryFolder()
  const rows = TRUTH.map((truth, at) => `p${at},u,${at},${truth}\n`)
  const source = writeSource(folder, 'posts.csv', `post_id,user_id,text_data,truth\n${rows.join('')}`)
  let run = 0
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { text_data: row } = JSON.parse(request.body) as { text_data: string }
      const rules = toRules(Number(row), run).map(([id, name]) => ({ rule_id: id, rule_name: name }))
      wire.send(200, toTaskAnswer(request, rules))
    },
  })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const ids: string[] = []
  for (run = 0; run < 2; run += 1) {
    const sent = await sluice('task', source, '--base-url', server.baseUrl, '--concurrency', '1', '--json')
    ids.push(JSON.parse(sent.stdout).run_id)
  }
  const json = async (...args: string[]) => JSON.parse((await sluice(...args, '--json')).stdout)
  return { sluice, source, ids, json }
}

it('warns in an evaluation and a trend that a rule had several names in a run', async () => {
  const { sluice, source, ids, json } = await sendTwice((row, run) => [
    ['r1', run === 1 && row > 1 ? 'Adverts' : 'Spam'],
  ])
  const said = 'The service gave a rule several names in this run: r1 ("Adverts", "Spam").'
  const { warnings } = await json('evaluate', ids[1] ?? '', '--label', 'truth', '--positive', 'Spam=r1')
  expect(warnings).toContainEqual(expect.stringContaining(said))
  const trend = await json('trend', source)
  expect(trend.runs[0]).not.toHaveProperty('warnings')
  expect(trend.runs[1].warnings).toEqual([expect.stringContaining(said)])
  expect((await sluice('trend', source)).stdout.replaceAll(/\s+/g, ' ')).toContain(said)
})

it('compares rules by id if their names moved between runs, and says that they did', async () => {
  const { sluice, source, ids, json } = await sendTwice((row, run) =>
    // The name of the first rule moved to the second one, which is new.
    run === 0 ? (row < 2 ? [['r1', 'Spam']] : []) : row < 2 ? [['r2', 'Spam']] : [['r1', 'Old spam']],
  )
  const said = 'Rules have several names in these runs: r1 ("Old spam", "Spam").'
  const [a = '', b = ''] = ids
  const compared = await json('compare', a, b)
  expect(compared.decisions.joined.rules).toMatchObject([
    { rule: 'Old spam', rule_ids: ['r1'], newly: 2, no_longer: 2, both: 0 },
    { rule: 'Spam', rule_ids: ['r2'], newly: 2, no_longer: 0, both: 0 },
  ])
  expect(compared.decisions.warnings).toEqual([expect.stringContaining(said)])
  expect((await sluice('trend', source)).stdout.replaceAll(/\s+/g, ' ')).toContain(said)
})
