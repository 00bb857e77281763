import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const env = { SLUICE_API_KEY: 'the-default-key' }
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/

/** A service whose first answer is a 503, and a workspace with a source. */
async function open(rows: number) {
  const service = await startFaultServer({
    onRequest: (request, wire) =>
      request.number === 1
        ? wire.send(503, { error: true, message: 'busy' })
        : wire.send(200, toTaskAnswer(request)),
  })
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.csv', createRows(rows))
  const run = (args: readonly string[]) =>
    runInProcess([...args, '--workspace', join(folder, 'work')], { workspace: folder, env })
  const sent = () => service.requests.map(({ headers }) => headers['traceparent'] ?? '')
  return { service, folder, source, run, sent }
}

describe('traceparent', () => {
  it('differs for each try, and is kept with its row wherever tries are shown', async () => {
    const { service, source, run, sent } = await open(2)
    const task = ['task', source, '--base-url', service.baseUrl, '--concurrency', '1', '--traceparent']
    expect(await run([...task, '--quiet'])).toMatchObject({ code: 0 })
    expect(sent()).toHaveLength(3)
    for (const header of sent()) expect(header).toMatch(TRACEPARENT)
    expect(new Set(sent().map((header) => header.split('-')[1])).size).toBe(3)
    expect(new Set(sent().map((header) => header.split('-')[2])).size).toBe(3)

    const readTries = async (row: number) => {
      const { attempts } = JSON.parse((await run(['show', 'latest', '--row', `${row}`, '--json'])).stdout)
      return (attempts as { outcome: string; traceparent?: string }[]).map(({ traceparent }) => traceparent)
    }
    const tries = new Map([
      [2, await readTries(2)],
      [3, await readTries(3)],
    ])
    const retried = [2, 3].find((row) => tries.get(row)?.length === 2) ?? 0
    expect(tries.get(retried)?.[0]).toBe(sent()[0])
    expect([...tries.values()].flat().toSorted()).toEqual(sent().toSorted())
    expect((await run(['show', 'latest', '--row', `${retried}`])).stdout).toContain(
      `traceparent ${sent()[0]}`,
    )

    const statement = `SELECT row, number FROM tries WHERE trace_id = '${sent()[0]?.split('-')[1]}'`
    const found = await run(['sql', 'latest', statement, '--format', 'csv'])
    expect(found.stdout.trim().split(/\r?\n/)[1]).toBe(`${retried},1`)
  })

  it('is in exports, as the trace id of the last try and with each try', async () => {
    const { service, folder, source, run, sent } = await open(2)
    const task = ['task', source, '--base-url', service.baseUrl, '--concurrency', '1', '--traceparent']
    await run([...task, '--quiet'])
    await run(['export', 'latest', join(folder, 'out.jsonl')])
    const exported = readFileSync(join(folder, 'out.jsonl'), 'utf8').trim().split('\n')
    const tries = exported.map((line) =>
      (JSON.parse(line).tries as { traceparent: string }[]).map(({ traceparent }) => traceparent),
    )
    expect(tries.flat().toSorted()).toEqual(sent().toSorted())
    await run(['export', 'latest', join(folder, 'out.csv')])
    const [header = '', ...lines] = readFileSync(join(folder, 'out.csv'), 'utf8').trim().split('\r\n')
    const at = header.split(',').indexOf('sluice_trace_id')
    expect(lines.map((line) => line.split(',')[at])).toEqual(tries.map((own) => own.at(-1)?.split('-')[1]))
  })

  it('is neither sent nor stored without the option, which then adds no column', async () => {
    const { service, folder, source, run, sent } = await open(2)
    await run(['task', source, '--base-url', service.baseUrl, '--quiet'])
    expect(sent()).toEqual(['', '', ''])
    expect(
      JSON.stringify(JSON.parse((await run(['show', 'latest', '--row', '2', '--json'])).stdout)),
    ).not.toContain('traceparent')
    await run(['export', 'latest', join(folder, 'out.csv')])
    expect(readFileSync(join(folder, 'out.csv'), 'utf8')).not.toContain('trace_id')
  })

  it('is kept with the requests that a load test keeps, and with its first one', async () => {
    onlyInLongForm()
    const { service, folder, source, run, sent } = await open(1)
    const load = ['load', source, '--base-url', service.baseUrl, '--concurrency', '2', '--requests', '20']
    const { stdout } = await run([...load, '--traceparent', '--json'])
    expect(JSON.parse(stdout).load.first_request.traceparent).toBe(sent()[0])
    await run(['export', 'latest', join(folder, 'requests.jsonl')])
    const kept = readFileSync(join(folder, 'requests.jsonl'), 'utf8').trim().split('\n')
    const traces = kept.map((line) => JSON.parse(line) as { traceparent: string })
    expect(traces.map(({ traceparent }) => traceparent).toSorted()).toEqual(sent().slice(1).toSorted())
  })

  it('is kept by a stored connection, and left out of one run', async () => {
    const { service, source, run, sent } = await open(1)
    await run(['connection', 'add', 'live', '--base-url', service.baseUrl, '--traceparent'])
    const again = ['--connection', 'live', '--quiet', '--set', 'post_id={{run}}-{{row}}']
    await run(['task', source, ...again])
    await run(['task', source, ...again, '--no-traceparent'])
    expect(sent().map((header) => TRACEPARENT.test(header))).toEqual([true, true, false])
  })

  it('is missing from a try that did not reach a service', async () => {
    const { service, source, run } = await open(1)
    await service.close()
    const task = ['task', source, '--base-url', service.baseUrl, '--retries', '0', '--traceparent', '--quiet']
    expect(await run(task)).toMatchObject({ code: 1 })
    const { attempts } = JSON.parse((await run(['show', 'latest', '--row', '2', '--json'])).stdout)
    expect(attempts).toMatchObject([{ outcome: 'failed' }])
    expect(attempts[0]).not.toHaveProperty('traceparent')
  })
})
