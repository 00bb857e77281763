import { expect, test } from 'vitest'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

test('after a service limited the rate, the summary says so, and blames neither this machine nor --concurrency', async () => {
  const folder = createTemporaryFolder()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number > 6) wire.send(200, toTaskAnswer(request))
      else wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'), { 'retry-after': '0.2' })
    },
  })
  const source = writeSource(folder, 'posts.csv', createRows(40))
  const options = { workspace: folder, env: { SLUICE_API_KEY: 'key' } }
  const sent = await runInProcess(
    ['task', source, '--base-url', server.baseUrl, '--rate', '100', '--json'],
    options,
  )
  expect(sent.code, sent.stderr).toBe(0)
  const { generator } = JSON.parse(sent.stdout)
  expect(generator.held_by_service).toBeGreaterThan(0)
  const { stdout } = await runInProcess(['show', 'latest'], options)
  expect(stdout).toContain(
    `${generator.held_by_service} requests waited while the service could not be reached or limited`,
  )
  if (generator.held_by_service === generator.waited) expect(stdout).not.toContain('--concurrency')
})
