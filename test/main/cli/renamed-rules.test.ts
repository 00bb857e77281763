import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

it('warns wherever a run is shown that answers gave a rule several names, also in several sessions', async () => {
  const folder = createTemporaryFolder()
  const rows = ['Spam', 'Spam', 'Hate', 'r2', 'Hate', 'Spam'].map((name, at) => `p${at},u,${name}\n`)
  const source = writeSource(folder, 'posts.csv', `post_id,user_id,text_data\n${rows.join('')}`)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { text_data: name } = JSON.parse(request.body) as { text_data: string }
      const rules = [
        { rule_id: 'r1', rule_name: 'Spam' },
        { rule_id: 'r2', rule_name: name },
      ]
      wire.send(200, toTaskAnswer(request, rules))
    },
  })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const warning = {
    code: 'RULES_RENAMED',
    message:
      'The service gave a rule several names in this run: r2 ("Hate", "Spam"). Results show only the newest name of a rule; stored answers have their own.',
  }
  const to = ['--base-url', server.baseUrl, '--concurrency', '1']
  const trial = await sluice('task', source, ...to, '--limit', '2', '--json')
  expect(JSON.parse(trial.stdout)).toMatchObject({ warnings: [] })
  const resumed = await sluice('resume', 'latest')
  expect(resumed.stdout.replaceAll(/\s+/g, ' ')).toContain(warning.message)
  const shown = await sluice('show', 'latest', '--json')
  expect((JSON.parse(shown.stdout) as { warnings: unknown }).warnings).toEqual([warning])
  const report = join(folder, 'report.md')
  await sluice('report', 'latest', report)
  expect(readFileSync(report, 'utf8')).toContain('The service gave a rule several names in this run')
})
