import { describe, expect, it } from 'vitest'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** Two runs of one name, of a service that refuses every third row; the second has another source. */
async function sendTwice() {
  const folder = createTemporaryFolder()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 3 === 0) wire.send(400, toErrorAnswer(400, 'BAD', 'no such user'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: folder, env: { SLUICE_API_KEY: 'k' } })
  const send = async (name: string, rows: number) => {
    const source = writeSource(folder, `${rows}.csv`, createRows(rows))
    const args = ['--base-url', server.baseUrl, '--name', name, '--concurrency', '1', '--json']
    const { stdout } = await sluice('task', source, '--set', 'post_id={{run}}-{{row}}', ...args)
    return String(JSON.parse(stdout).run_id)
  }
  return {
    sluice,
    send,
    ids: [await send('nightly', 6), await send('nightly', 9), await send('once', 3)] as const,
  }
}

describe('show', () => {
  it('takes the name of a run, and the newest of a name that several have', async () => {
    onlyInLongForm()
    const { sluice, ids } = await sendTwice()
    const show = async (reference: string) => JSON.parse((await sluice('show', reference, '--json')).stdout)
    expect((await show('once')).run_id).toBe(ids[2])
    expect((await show('latest:nightly')).run_id).toBe(ids[1])
    expect((await show('latest')).run_id).toBe(ids[2])
    const ambiguous = await sluice('show', 'nightly')
    expect(ambiguous.code).toBe(2)
    expect(ambiguous.stderr).toContain(`\`nightly\` matches 2 runs: ${ids[1]}, ${ids[0]}`)
    expect(ambiguous.stderr).toContain('latest:NAME')
    expect((await sluice('show', 'latest:nothing')).stderr).toContain('does not exist')
  })

  it('refuses a name that also begins the id of another run', async () => {
    onlyInLongForm()
    const { sluice, send, ids } = await sendTwice()
    const [first] = ids
    const named = await send(first.slice(0, -1), 3)
    const ambiguous = await sluice('show', first.slice(0, -1))
    expect(ambiguous.code).toBe(2)
    expect(ambiguous.stderr).toContain(`matches 2 runs: ${first}, ${named}`)
    expect(JSON.parse((await sluice('show', first, '--json')).stdout).run_id).toBe(first)
    const latest = await sluice('show', `latest:${first.slice(0, -1)}`, '--json')
    expect(JSON.parse(latest.stdout).run_id).toBe(named)
  })

  it('lists the rows that match filters, as text and as JSON', async () => {
    const { sluice, ids } = await sendTwice()
    const { code, stdout } = await sluice('show', 'latest:nightly', '--state', 'rejected', '--limit', '2')
    expect(code).toBe(0)
    expect(stdout).toContain(`3 rows of run ${ids[1]}`)
    expect(stdout).toMatch(/\n +4 +\S+-3 +rejected +400 BAD no such user\n +7 +\S+-6 +rejected/)
    expect(stdout).toContain('and 1 row more; --offset 2 lists them')
    const page = ['--state', 'rejected', '--limit', '2', '--offset', '2', '--json']
    const listed = JSON.parse((await sluice('show', 'latest:nightly', ...page)).stdout)
    expect(listed).toMatchObject({
      run_id: ids[1],
      total: 3,
      offset: 2,
      rows: [{ row: 10, record: 9, state: 'rejected', status: 400, error_code: 'BAD', triggered_rules: [] }],
    })
    const none = await sluice('show', 'once', '--flagged')
    expect(none.stdout).toBe(`0 rows of run ${ids[2]}\n`)
  })

  it('refuses options that cannot be combined', async () => {
    onlyInLongForm()
    const { sluice } = await sendTwice()
    expect((await sluice('show', 'once', '--row', '2', '--flagged')).stderr).toContain(
      '--row and --flagged cannot be combined',
    )
    expect((await sluice('show', 'once', '--limit', '2')).stderr).toContain('--limit needs a filter')
    expect((await sluice('show', 'once', '--rule', 'spam')).stderr).toContain('No row triggered any rule')
  })
})
