import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/main/engine/engine.ts'
import { toHash } from '../../../src/main/engine/run/journal/seen-ids.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { type RecordingService, startRecordingService } from '../../helpers/recording-service.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

const HEADER = 'post_id,user_id,text_data\n'

async function setUp(refuse?: Parameters<typeof startRecordingService>[0]) {
  const service = await startRecordingService(refuse)
  onTestFinished(() => service.close())
  const workspace = createTemporaryFolder()
  const asked: string[] = []
  const sluice = (args: readonly string[], answer?: boolean) =>
    runInProcess(args, {
      workspace,
      env: { SLUICE_API_KEY: 'the-key' },
      ...(answer !== undefined && {
        ask: (question: string) => {
          asked.push(question)
          return answer
        },
      }),
    })
  const task = (content: string, args: readonly string[] = [], answer?: boolean) =>
    sluice(
      ['task', writeSource(workspace, 'posts.csv', content), '--base-url', service.baseUrl, ...args],
      answer,
    )
  const json = async (content: string, ...args: string[]) =>
    JSON.parse((await task(content, [...args, '--json'])).stdout)
  return { service, workspace, sluice, task, json, asked }
}

const countArrived = ({ arrived }: RecordingService) => [...arrived.values()].reduce((sum, n) => sum + n, 0)

describe('what was sent before', () => {
  it('is reported by a dry run, before a question and in the summary, and is all sent again without --only-new', async () => {
    const { service, task, json } = await setUp()
    const first = await json(createRows(4))
    expect(first).not.toHaveProperty('sent_before')
    const file = `${createRows(4)}p9,u9,new\n`
    const dry = await task(file, ['--dry-run'])
    expect(dry.stdout).toMatch(
      new RegExp(
        `Sent before\\s+4 of 5 rows were sent before \\(same post_id\\): 4 in run ${first.run_id}\\.`,
      ),
    )
    expect(dry.stdout).toContain('add --only-new')
    expect(await json(file, '--dry-run')).toMatchObject({
      sent_before: {
        rows: 4,
        unknown: 0,
        not_taken: 0,
        by: ['post_id'],
        runs: [{ run_id: first.run_id, rows: 4 }],
      },
    })
    expect((await task(file, [], true)).stderr).toContain('4 of 5 rows were sent before')
    expect(countArrived(service)).toBe(9)
    const again = await json(file)
    expect(again).toMatchObject({ rows: { read: 5, succeeded: 5 }, sent_before: { rows: 5 } })
    expect(again.rows).not.toHaveProperty('skipped')
    expect(countArrived(service)).toBe(14)
  })

  it('is recognized by user and content if ids are generated, and then reported and never skipped', async () => {
    onlyInLongForm()
    const { json } = await setUp()
    const bare = (...rows: string[]) => `user_id,text_data\n${rows.join('\n')}\n`
    await json(bare('u1,hello', 'u2,hello', 'u1,bye'))
    expect(await json(bare('u1,hello', 'u3,hello', 'u2,bye', 'u1,hello'))).toMatchObject({
      rows: { succeeded: 4 },
      sent_before: { rows: 2, by: ['user_id+text_data'] },
    })
  })

  it('counts only for the same service, key, operation, API and models', async () => {
    onlyInLongForm()
    const { service, workspace, task, sluice, json } = await setUp()
    await json(createRows(2))
    const other = await startRecordingService()
    onTestFinished(() => other.close())
    const posts = join(workspace, 'posts.csv')
    const elsewhere = await sluice(['task', posts, '--base-url', other.baseUrl, '--json'])
    expect(JSON.parse(elsewhere.stdout)).not.toHaveProperty('sent_before')
    expect(await json(createRows(2), '--model', 'text')).not.toHaveProperty('sent_before')
    expect(await json(createRows(2), '--model', 'text')).toMatchObject({ sent_before: { rows: 2 } })
    const otherKey = await runInProcess(
      ['task', posts, '--base-url', service.baseUrl, '--api-key-env', 'OTHER_KEY', '--dry-run', '--json'],
      { workspace, env: { OTHER_KEY: 'another-key' } },
    )
    expect(JSON.parse(otherKey.stdout)).not.toHaveProperty('sent_before')
    expect((await task(createRows(2), ['--api', 'v2', '--dry-run'])).stdout).not.toContain('Sent before')
  })

  it('counts for the same key in any variable, of which the workspace holds only a keyed hash', async () => {
    onlyInLongForm()
    const { service, workspace } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(2))
    const send = async (key: string, ...args: string[]) =>
      JSON.parse(
        (
          await runInProcess(['task', posts, '--base-url', service.baseUrl, '--json', ...args], {
            workspace,
            env: { SLUICE_API_KEY: key },
          })
        ).stdout,
      )
    const first = await send('project-a-key')
    expect(await send('project-b-key', '--only-new', '--dry-run')).toMatchObject({ rows: { sendable: 2 } })
    const other = await send('project-b-key', '--only-new')
    expect(other).toMatchObject({
      rows: { succeeded: 2 },
      sent_before: { rows: 0, other_key: [first.run_id] },
    })
    expect((await send('project-a-key', '--only-new')).rows).toMatchObject({ skipped: 2 })
    expect((await send('project-b-key', '--only-new')).rows).toMatchObject({ skipped: 2 })
    expect(countArrived(service)).toBe(4)
    const secret = statSync(join(workspace, 'fingerprint.secret'))
    if (process.platform !== 'win32') expect(secret.mode & 0o777).toBe(0o600)
    for (const file of readdirSync(workspace, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toMatch(/project-[ab]-key/)
    }
    // A run of an earlier version has noted no key.
    const db = new DatabaseSync(toJournalFile(workspace, first.run_id))
    db.exec("DELETE FROM facet WHERE kind = 'key'")
    db.close()
    await runInProcess(['delete', other.run_id, '--yes'], { workspace })
    expect(await send('project-b-key', '--only-new')).toMatchObject({
      rows: { skipped: 2 },
      sent_before: { key_unknown: [first.run_id] },
    })
  })

  it('counts only for the same headers, Unix socket and resolved address, which tell tenants and deployments apart', async () => {
    onlyInLongForm()
    const { service, workspace } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(2))
    const send = async (args: string[], tenant = 'acme') =>
      JSON.parse(
        (
          await runInProcess(
            [
              'task',
              posts,
              ...(args.includes('--base-url') ? [] : ['--base-url', service.baseUrl]),
              '--json',
              ...args,
            ],
            {
              workspace,
              env: { SLUICE_API_KEY: 'a-key', TENANT: tenant },
            },
          )
        ).stdout,
      )
    const first = await send(['--header', 'X-Tenant: acme'])
    const other = await send(['--header', 'X-Tenant: globex', '--only-new'])
    expect(other).toMatchObject({
      rows: { succeeded: 2 },
      sent_before: { rows: 0, other_connection: [first.run_id] },
    })
    expect((await send(['--header', 'x-tenant: acme', '--only-new'])).rows).toMatchObject({ skipped: 2 })
    // A value that a variable has is told apart, too, by a keyed hash.
    const filled = await send(['--header', 'X-Tenant: ${TENANT}', '--only-new'])
    expect(filled.rows).toMatchObject({ succeeded: 2 })
    expect((await send(['--header', 'X-Tenant: ${TENANT}', '--only-new'])).rows).toMatchObject({ skipped: 2 })
    const initech = await send(['--header', 'X-Tenant: ${TENANT}', '--only-new'], 'initech')
    expect(initech.rows).toMatchObject({ succeeded: 2 })
    const { port } = new URL(service.baseUrl)
    const byName = ['--base-url', `http://localhost:${port}`, '--resolve', `localhost:${port}:127.0.0.1`]
    expect((await send(byName)).rows).toMatchObject({ succeeded: 2 })
    expect((await send([...byName, '--only-new'])).rows).toMatchObject({ skipped: 2 })
    expect((await send([...byName.slice(0, 2), '--only-new'])).rows).toMatchObject({ succeeded: 2 })
    expect(countArrived(service)).toBe(12)
  })

  it('counts for the same headers whatever credentials and request ids are in them', async () => {
    onlyInLongForm()
    const { service, workspace } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(2))
    const send = async (day: number, ...headers: string[]) => {
      const { stdout } = await runInProcess(
        [
          ...['task', posts, '--base-url', service.baseUrl, '--only-new', '--json'],
          ...headers.flatMap((header) => ['--header', header]),
        ],
        { workspace, env: { SLUICE_API_KEY: 'a-key', TOKEN: `the-token-of-day-${day}`, TENANT: 'acme' } },
      )
      return JSON.parse(stdout)
    }
    const headers = (day: number) => [
      'X-Tenant: ${TENANT}',
      'X-Session-Token: ${TOKEN}',
      'X-Upstream: Bearer ${TOKEN}',
      `X-Request-Id: nightly-${day}`,
    ]
    expect((await send(1, ...headers(1))).rows).toMatchObject({ succeeded: 2 })
    const next = await send(2, ...headers(2))
    expect(next.rows).toMatchObject({ skipped: 2 })
    expect(next.sent_before).not.toHaveProperty('key_unknown')
    expect((await send(3, ...headers(3).slice(0, 1))).rows).toMatchObject({ skipped: 2 })
    // A key in a header is compared as the key itself is, and a tenant stays one.
    const keyed = await send(4, 'X-Tenant: ${TENANT}', 'X-Api-Key: ${TOKEN}')
    expect(keyed.rows).toMatchObject({ skipped: 2 })
    expect(keyed.sent_before).toHaveProperty('key_unknown')
    expect((await send(4, 'X-Auth-Tenant: ${TENANT}')).rows).toMatchObject({ succeeded: 2 })
    expect(countArrived(service)).toBe(4)
  })

  it('counts for the same headers even if the name of a scheme precedes a value', async () => {
    onlyInLongForm()
    const { service, workspace } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(2))
    const send = async (header: string, plan: string) => {
      const { stdout } = await runInProcess(
        ['task', posts, '--base-url', service.baseUrl, '--only-new', '--json', '--header', header],
        {
          workspace,
          env: { SLUICE_API_KEY: 'a-key', PLAN: plan, PLAN_PASSWORD: Buffer.from(plan).toString('base64') },
        },
      )
      return JSON.parse(stdout)
    }
    const tier = 'X-Tier: Basic ${PLAN}'
    const first = await send(tier, 'gold')
    expect((await send(tier, 'gold')).rows).toMatchObject({ skipped: 2 })
    expect(await send(tier, 'silver')).toMatchObject({
      rows: { succeeded: 2 },
      sent_before: { rows: 0, other_connection: expect.arrayContaining([first.run_id]) },
    })
    const upstream = 'X-Upstream: Basic ${PLAN_PASSWORD}'
    await send(upstream, 'sluice:old')
    const renewed = await send(upstream, 'sluice:new')
    expect(renewed.rows).toMatchObject({ skipped: 2 })
    expect(renewed.sent_before).not.toHaveProperty('key_unknown')
  })

  it('counts only for the same key in a header, unless a stored connection has the header', async () => {
    onlyInLongForm()
    const { service, workspace, sluice } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(2))
    const send = async (gateway: string, ...args: string[]) => {
      const { stdout } = await runInProcess(['task', posts, '--only-new', '--json', ...args], {
        workspace,
        env: { SLUICE_API_KEY: 'a-key', GATEWAY: gateway },
      })
      return JSON.parse(stdout)
    }
    const stated = ['--base-url', service.baseUrl, '--header', 'X-Api-Key: ${GATEWAY}']
    const first = await send('gateway-key-1', ...stated)
    expect(first.rows).toMatchObject({ succeeded: 2 })
    expect(await send('gateway-key-2', ...stated)).toMatchObject({
      rows: { succeeded: 2 },
      sent_before: { rows: 0, other_connection: [first.run_id] },
    })
    const known = await send('gateway-key-1', ...stated)
    expect(known.rows).toMatchObject({ skipped: 2 })
    expect(known.sent_before).not.toHaveProperty('key_unknown')
    // Without the header nobody knows whose key the service goes by.
    expect(await send('gateway-key-1', ...stated.slice(0, 2))).toMatchObject({
      rows: { skipped: 2 },
      sent_before: { key_unknown: [expect.any(String)] },
    })
    await sluice([
      ...['connection', 'add', 'moderation', '--base-url', service.baseUrl],
      ...['--api-key-env', 'SLUICE_API_KEY', '--header', 'X-Api-Key: ${GATEWAY}'],
    ])
    const ofConnection = ['--connection', 'moderation']
    await send('gateway-key-3', ...ofConnection)
    expect((await send('gateway-key-4', ...ofConnection)).rows).toMatchObject({ skipped: 2 })
  })

  it('counts for the same key, wherever it is read from', async () => {
    onlyInLongForm()
    const { service, workspace, sluice } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(2))
    const keyFile = writeSource(workspace, 'key.txt', 'the-key\n')
    const printKey = `"${process.execPath}" -p "'the-key'"`
    const send = async (...args: string[]) => {
      const { stdout } = await sluice([
        ...['task', posts, '--base-url', service.baseUrl, '--only-new', '--json'],
        ...args,
      ])
      return JSON.parse(stdout)
    }
    const first = await send()
    expect(first.rows).toMatchObject({ succeeded: 2 })
    expect((await send('--api-key-file', keyFile)).rows).toMatchObject({ skipped: 2 })
    expect((await send('--api-key-command', printKey)).rows).toMatchObject({ skipped: 2 })
    const otherFile = writeSource(workspace, 'other-key.txt', 'another-key\n')
    expect(await send('--api-key-file', otherFile)).toMatchObject({
      rows: { succeeded: 2 },
      sent_before: { rows: 0, other_key: expect.arrayContaining([first.run_id]) },
    })
    expect(countArrived(service)).toBe(4)
  })

  it('is forgotten with the run that sent it', async () => {
    onlyInLongForm()
    const { json, sluice } = await setUp()
    const { run_id: runId } = await json(createRows(2))
    await sluice(['delete', runId, '--yes'])
    expect(await json(createRows(2), '--only-new')).toMatchObject({ rows: { succeeded: 2 } })
    await sluice(['wipe', '--yes'])
    expect(await json(createRows(2), '--only-new')).toMatchObject({ rows: { succeeded: 2 } })
  })

  it('is asked about with --only-new if the journal of a run cannot be read, and reported without it', async () => {
    onlyInLongForm()
    const { json, task, workspace, service } = await setUp()
    const { run_id: runId } = await json(createRows(2))
    const db = new DatabaseSync(toJournalFile(workspace, runId))
    db.exec("UPDATE run SET plan = '{'")
    db.close()
    const refused = await task(createRows(2), ['--only-new', '--quiet'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--accept sent_twice')])
    expect(refused.stderr).toContain(`by runs that cannot be read (${runId})`)
    expect((await task(createRows(2), ['--only-new', '--on-unknown', 'skip'])).code).toBe(2)
    expect(countArrived(service)).toBe(2)
    expect(await json(createRows(2), '--only-new', '--accept', 'sent_twice')).toMatchObject({
      rows: { succeeded: 2 },
      sent_before: { rows: 0, unreadable: [runId] },
    })
    expect(await json(createRows(2))).toMatchObject({ rows: { succeeded: 2 } })
  })
})

describe('--only-new', () => {
  it('finds rows of a batch that has more rows than are looked up at once', async () => {
    onlyInLongForm()
    const { json } = await setUp()
    const last = 140_000
    await json(`${HEADER}p1,u,a\np${last},u,a\n`)
    // What is read while a long row is not at its end comes as one batch.
    const rows = Array.from({ length: last }, (_, index) => `p${index + 1},u,a`)
    const long = `long,u,"${'x'.repeat(4_300_000)}"`
    const sent = await json(`${HEADER}${long}\n${rows.join('\n')}\n`, '--only-new', '--dry-run')
    expect(sent.rows).toMatchObject({ skipped: 2 })
  })

  it('finds rows of a large source, which are looked up while the next are read', async () => {
    onlyInLongForm()
    const { json, sluice, task, workspace } = await setUp()
    const known = [1, 40_000, 65_536, 65_537, 70_000]
    const text = 'x'.repeat(120)
    const toRow = (n: number) => `p${n},u${n},${text}`
    const first = await json(`${HEADER}${known.map(toRow).join('\n')}\n`)
    const large = `${HEADER}${Array.from({ length: 70_000 }, (_, index) => toRow(index + 1)).join('\n')}\n`
    const { rows, sent_before: before } = await json(large, '--only-new', '--dry-run')
    expect(rows).toMatchObject({ skipped: 5, sendable: 69_995 })
    expect(before).toMatchObject({ rows: 5, runs: [{ run_id: first.run_id, rows: 5 }] })
    const held = await task(large, ['--only-new', '--limit', '1', '--json'])
    const shown = await sluice(['show', JSON.parse(held.stdout).run_id, '--row', '65538'])
    expect(shown.stdout).toContain(`sent before, in run ${first.run_id}, row 5`)
    const db = new DatabaseSync(toJournalFile(workspace, first.run_id))
    db.exec("UPDATE run SET plan = '{'")
    db.close()
    const refused = await task(large, ['--only-new', '--quiet'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--accept sent_twice')])
  })

  it('asks about a row whose try was lost in the run that a retry of it repeats', async () => {
    onlyInLongForm()
    let status: 400 | 503 = 503
    const { json, sluice, task, workspace, service } = await setUp(() => status)
    const { run_id: runId } = await json(createRows(1), '--retries', '0')
    status = 400
    const retried = await sluice(['retry', runId, '--on-unknown', 'resend', '--json'])
    // As it stands while the retry waits for its turn.
    const db = new DatabaseSync(toJournalFile(workspace, JSON.parse(retried.stdout).run_id))
    db.exec("UPDATE result SET state = 'pending'")
    db.close()
    const before = countArrived(service)
    expect((await task(createRows(1), ['--only-new'])).code).toBe(2)
    expect(countArrived(service)).toBe(before)
  })

  it('skips what the service took before, by the mapped post_id, and says of each row which run sent it', async () => {
    const { service, json, sluice, workspace } = await setUp()
    const first = await json(createRows(4))
    const sent = await json(`${createRows(4)}p9,u9,new\n,u1,no id\np9,u9,twice\n`, '--only-new')
    expect(sent.rows).toMatchObject({ read: 7, succeeded: 1, invalid: 2, skipped: 4, not_sent: 0 })
    expect(sent).toMatchObject({ only_new: true, requests: { sent: 1 }, sent_before: { rows: 4 } })
    expect(countArrived(service)).toBe(5)
    const row = JSON.parse((await sluice(['show', sent.run_id, '--row', '3', '--json'])).stdout)
    expect(row.result).toMatchObject({
      state: 'skipped',
      message: `sent before, in run ${first.run_id}, row 3`,
    })
    const file = join(workspace, 'skipped.csv')
    expect((await sluice(['export', sent.run_id, file, '--state', 'skipped'])).code).toBe(0)
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(5)
    expect((await sluice(['show', sent.run_id])).stdout).toMatch(/skipped +4/)
    // What is skipped is sent by neither.
    for (const command of ['resume', 'retry']) await sluice([command, sent.run_id])
    expect(countArrived(service)).toBe(5)
  })

  it('is told apart by compare from what a correction left out, whichever run is the first', async () => {
    onlyInLongForm()
    const { sluice, json } = await setUp()
    const { run_id: a } = await json(createRows(4))
    const { run_id: b } = await json(`${createRows(4)}p9,u9,new\n`, '--only-new')
    for (const [first, second] of [
      [a, b],
      [b, a],
    ]) {
      for (const by of ['post_id', 'row']) {
        const compared = await sluice(['compare', first, second, '--by', by, '--json'])
        expect(JSON.parse(compared.stdout).decisions, by).toMatchObject({
          joined: { rows: 0 },
          skipped: 4,
          left_out: 0,
          unfinished: 0,
          a: { only_here: first === b ? 1 : 0 },
          b: { only_here: second === b ? 1 : 0 },
        })
      }
    }
    const { stdout } = await sluice(['compare', a, b])
    expect(stdout).toContain('4 skipped, sent by an earlier run')
    expect(stdout).not.toContain('correction')
    // Half of the rows have a partner, though nothing of them can be compared.
    expect(stdout).not.toContain('were found in both runs')
  })

  it('leaves what it skipped out of a retry that corrects rows', async () => {
    onlyInLongForm()
    const { service, json, workspace } = await setUp()
    await json(createRows(2))
    const { run_id: runId } = await json(`${createRows(2)}p3,,no user\n`, '--only-new')
    const engine = createEngine({ workspace })
    onTestFinished(() => engine.close())
    const { connection } = await engine.runs.readPlan(runId)
    const retry = await engine.runs.retryRun(runId, {
      apiKey: ApiKey.create('the-key', connection, 'of the test'),
      onUnknown: 'skip',
      fixes: [{ kind: 'value', problem: 'required', field: 'user_id', value: 'someone' }],
    })
    expect((await retry.ended).rows).toMatchObject({ read: 3, skipped: 2, succeeded: 1 })
    expect((await engine.runs.summarizeRun(runId)).rows).toMatchObject({
      read: 3,
      succeeded: 1,
      invalid: 0,
      skipped: 2,
      not_sent: 0,
    })
    expect(countArrived(service)).toBe(3)
    // The corrected row is known by the id that it was sent with.
    expect((await json(`${createRows(2)}p3,u3,no user\n`, '--only-new')).rows).toMatchObject({ skipped: 3 })
  })

  it('exits with 0 and sends nothing if nothing is new', async () => {
    const { service, task, json } = await setUp()
    await json(createRows(3))
    const again = await task(createRows(3), ['--only-new', '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({
      state: 'completed',
      rows: { read: 3, skipped: 3, not_sent: 0 },
    })
    expect(countArrived(service)).toBe(3)
  })

  it('counts as new what was rejected or failed, and what a run has not sent', async () => {
    const { json, service } = await setUp((postId) =>
      postId === 'p1' && countArrived(service) <= 3 ? 400 : null,
    )
    await json(createRows(6), '--limit', '3')
    const sent = await json(createRows(6), '--only-new')
    expect(sent).toMatchObject({
      rows: { succeeded: 4, skipped: 2 },
      sent_before: { rows: 2, not_taken: 1 },
    })
  })

  it('asks about rows of unknown outcome, which --accept sends and --on-unknown skip skips', async () => {
    onlyInLongForm()
    const { json, task, service, asked } = await setUp((postId, arrivals) =>
      postId === 'p2' && arrivals < 3 ? 503 : null,
    )
    await json(createRows(3), '--retries', '0')
    const refused = await task(createRows(3), ['--only-new'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(
      /1 row: was sent in an earlier run, without a usable answer[\s\S]*--on-unknown skip[\s\S]*--accept sent_twice/,
    )
    expect(service.arrived.get('p2')).toBe(1)
    expect((await json(createRows(3), '--only-new', '--on-unknown', 'skip')).rows).toMatchObject({
      skipped: 3,
      succeeded: 0,
    })
    expect(service.arrived.get('p2')).toBe(1)
    expect((await task(createRows(3), ['--only-new'], false)).code).toBe(2)
    expect(asked).toEqual(['Send 1 row as read?'])
    expect(
      (await json(createRows(3), '--only-new', '--accept', 'sent_twice', '--retries', '0')).rows,
    ).toMatchObject({ skipped: 2, unknown: 1 })
    expect((await json(createRows(3), '--only-new', '--on-unknown', 'resend')).rows).toMatchObject({
      skipped: 2,
      succeeded: 1,
    })
    expect((await json(createRows(3), '--only-new')).rows).toMatchObject({ skipped: 3 })
  })

  it('goes by the outcome of a retry, and by corrected ids', async () => {
    let isMended = false
    const { json, sluice } = await setUp((postId) => (!isMended && postId === 'p1' ? 400 : null))
    const { run_id: runId } = await json(createRows(2))
    isMended = true
    await sluice(['retry', runId])
    expect((await json(createRows(2), '--only-new')).rows).toMatchObject({ skipped: 2 })
  })

  it('refuses generated ids without a key, and names one', async () => {
    onlyInLongForm()
    const { task, service } = await setUp()
    const bare = 'user_id,text_data,order\nu1,hello,1\nu1,hello,2\n'
    const refused = await task(bare, ['--only-new'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/generated for each run[\s\S]*--new-by user_id\+text_data/)
    expect((await task(bare, ['--only-new', '--new-by', 'post_id'])).code).toBe(2)
    expect((await task(bare, ['--only-new', '--new-by', 'user_id+nothing'])).stderr).toMatch(
      /nothing[\s\S]*user_id, text_data, order/,
    )
    expect((await task(bare, ['--new-by', 'order'])).code).toBe(2)
    expect(countArrived(service)).toBe(0)
  })

  it('recognizes rows by the fields or columns of --new-by, sent or not', async () => {
    onlyInLongForm()
    const { json } = await setUp()
    const bare = (...rows: string[]) => `user_id,text_data,order\n${rows.join('\n')}\n`
    await json(bare('u1,hello,1', 'u2,bye,2'))
    expect(
      (await json(bare('u1,hello,7', 'u1,bye,2'), '--only-new', '--new-by', 'user_id+text_data')).rows,
    ).toMatchObject({ skipped: 1, succeeded: 1 })
    expect((await json(bare('u1,hi,1', 'u9,bye,9'), '--only-new', '--new-by', 'order')).rows).toMatchObject({
      skipped: 1,
      succeeded: 1,
    })
    expect(
      (await json('user_id,text_data\nu1,hello\n', '--only-new', '--new-by', 'text_data')).rows,
    ).toMatchObject({ skipped: 1 })
  })

  it('finds rows of a run whose keys an earlier version has not noted', async () => {
    onlyInLongForm()
    const { json, workspace } = await setUp()
    const { run_id: runId } = await json(createRows(3))
    const db = new DatabaseSync(toJournalFile(workspace, runId))
    db.exec('DELETE FROM row_key')
    db.close()
    expect((await json(createRows(4), '--only-new')).rows).toMatchObject({ skipped: 3, succeeded: 1 })
  })

  it('does not take a row for another with the same hash', async () => {
    onlyInLongForm()
    const ids = new Map<number, string>()
    let pair: [string, string] | null = null
    for (let n = 0; pair === null; n += 1) {
      const id = `id${(n * 2_654_435_761) % 4_294_967_296}`
      const other = ids.get(toHash(id))
      if (other !== undefined && other !== id) pair = [other, id]
      ids.set(toHash(id), id)
    }
    const { json } = await setUp()
    await json(`${HEADER}${pair[0]},u1,one\n`)
    expect((await json(`${HEADER}${pair[1]},u1,one\n`, '--only-new')).rows).toMatchObject({ succeeded: 1 })
    expect((await json(`${HEADER}${pair[1]},u1,one\n${pair[0]},u1,one\n`, '--only-new')).rows).toMatchObject({
      skipped: 2,
    })
  })

  describe('of records that are split', () => {
    const both = (n: number, prefix = 'p') =>
      `post_id,user_id,rec,text_data,url\n${Array.from(
        { length: n },
        (_, i) => `${prefix}${i},u${i},r${i},text ${i},https://media.example.com/${prefix}${i}.jpg`,
      ).join('\n')}\n`

    const setUpSplit = async (refuse?: Parameters<typeof startRecordingService>[0]) => {
      const { service, workspace, sluice } = await setUp(refuse)
      const plan = writeSource(
        workspace,
        'split.plan.json',
        JSON.stringify({
          version: 1,
          name: 'split',
          source: { path: 'posts.csv' },
          operation: { kind: 'task' },
          connection: { baseUrl: service.baseUrl, apiKeyEnv: 'SLUICE_API_KEY' },
          fixes: [{ kind: 'split' }],
        }),
      )
      const json = async (content: string, ...args: string[]) => {
        writeSource(workspace, 'posts.csv', content)
        return JSON.parse((await sluice(['plan', plan, '--trust-plan', ...args, '--json'])).stdout)
      }
      return { service, json }
    }

    it('warns of nothing more, and counts the same, once other rows were sent', async () => {
      onlyInLongForm()
      const { json } = await setUpSplit()
      const { rows, problems } = await json(both(5), '--dry-run')
      await json(both(5, 'q'))
      expect(await json(both(5), '--dry-run')).toMatchObject({ rows, problems })
    })

    it('tells the halves of a record apart by any key', async () => {
      onlyInLongForm()
      const { json, service } = await setUpSplit((postId) => (postId === 'p1-url' ? 400 : null))
      await json(both(3))
      const sent = await json(both(3), '--only-new', '--new-by', 'rec')
      expect(sent.rows).toMatchObject({ skipped: 5 })
      expect([service.arrived.get('p1'), service.arrived.get('p1-url')]).toEqual([1, 2])
    })
  })

  it('refuses ids that have the run in them beside a column', async () => {
    onlyInLongForm()
    const { json, task, service } = await setUp()
    const rows = 'id,user_id,text_data\n1,u1,hello\n2,u2,bye\n'
    const ids = ['--set', 'post_id={{run}}-{{id}}']
    await json(rows, ...ids)
    // They are told by their contents.
    expect(await json(rows, ...ids, '--dry-run')).toMatchObject({
      sent_before: { rows: 2, by: ['user_id+text_data'] },
    })
    for (const by of [[], ['--new-by', 'post_id'], ['--new-by', 'post_id+user_id']]) {
      const refused = await task(rows, [...ids, '--only-new', ...by])
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('generated for each run')])
    }
    expect(countArrived(service)).toBe(2)
  })

  it('sends the first new rows with --limit, and resume sends the rest', async () => {
    onlyInLongForm()
    const { json, sluice, service } = await setUp()
    await json(createRows(3))
    const tried = await json(createRows(6), '--only-new', '--limit', '2')
    expect(tried.rows).toMatchObject({ skipped: 3, succeeded: 2, not_sent: 1 })
    const rest = JSON.parse((await sluice(['resume', tried.run_id, '--json'])).stdout)
    expect(rest.rows).toMatchObject({ skipped: 3, succeeded: 3, not_sent: 0 })
    expect(countArrived(service)).toBe(6)
  })

  it('is what resume names when the file of a run has grown, and then sends what is new in it', async () => {
    onlyInLongForm()
    const { json, sluice, service, workspace } = await setUp()
    const { run_id: runId } = await json(createRows(3))
    writeSource(workspace, 'posts.csv', createRows(5))
    const resumed = await sluice(['resume', runId])
    expect(resumed.stderr).toContain(`run-again ${runId} --keep-post-ids --only-new`)
    const grown = await sluice(['run-again', runId, '--keep-post-ids', '--only-new', '--json'])
    expect(JSON.parse(grown.stdout).rows).toMatchObject({ read: 5, skipped: 3, succeeded: 2 })
    expect(countArrived(service)).toBe(5)
  })

  it('skips rows of several sources', async () => {
    onlyInLongForm()
    const { json, sluice, service, workspace } = await setUp()
    await json(createRows(2))
    const other = writeSource(workspace, 'other.csv', `${HEADER}p2,u1,in another file\nq1,u1,new\n`)
    const posts = writeSource(workspace, 'more.csv', `${HEADER}p1,u1,one\nq2,u1,new\n`)
    const sent = await sluice(['task', posts, other, '--base-url', service.baseUrl, '--only-new', '--json'])
    expect(JSON.parse(sent.stdout).rows).toMatchObject({ read: 4, skipped: 2, succeeded: 2 })
  })

  it('skips terms and items of the same list, and leaves the requests of the others whole', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const workspace = createTemporaryFolder()
    const send = async (command: string[], name: string, content: string, ...more: string[]) => {
      const args = [
        ...command,
        writeSource(workspace, name, content),
        '--base-url',
        sandbox.baseUrl,
        ...more,
        '--json',
      ]
      return JSON.parse(
        (await runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })).stdout,
      )
    }
    const terms = ['watchlist', 'add', '--watchlist', 'sandbox_terms', '--terms-per-request', '2']
    await send(terms, 'terms.csv', 'term\nOne\ntwo\nthree\n')
    const added = await send(terms, 'terms.csv', 'term\nfour\none\nfive\nTHREE\nsix\n', '--only-new')
    expect(added).toMatchObject({ rows: { skipped: 2, succeeded: 3 }, requests: { sent: 2 } })
    const items = ['index', 'add', '--index', 'sandbox-index']
    const url = (n: number) => `https://media.example.com/${n}.png`
    await send(items, 'items.csv', `url\n${url(1)}\n${url(2)}\n`)
    expect(await send(items, 'items.csv', `url\n${url(2)}\n${url(3)}\n`, '--only-new')).toMatchObject({
      rows: { skipped: 1, succeeded: 1 },
    })
  })

  it('is skipped by what the advice beside it names, if ids are generated', async () => {
    const { service, task } = await setUp()
    const posts = 'user_id,text_data\nu1,hello\n'
    await task(posts)
    const { stdout } = await task(posts, ['--dry-run'])
    const [, options = ''] = /add (--only-new[^.]*)\./.exec(stdout) ?? []
    expect(await task(posts, options.split(' '))).toMatchObject({ code: 0 })
    expect(countArrived(service)).toBe(1)
  })

  it('is refused for load tests and appeals', async () => {
    const { sluice, workspace, service } = await setUp()
    const posts = writeSource(workspace, 'posts.csv', createRows(1))
    const to = ['--base-url', service.baseUrl, '--only-new']
    const load = await sluice(['load', posts, ...to, '--requests', '1', '--concurrency', '1'])
    expect([load.code, load.stderr]).toEqual([2, expect.stringContaining('a load test repeats its rows')])
    const appeal = await sluice(['appeal', posts, ...to, '--map', 'appeal_id=post_id'])
    expect([appeal.code, appeal.stderr]).toEqual([
      2,
      expect.stringContaining('the status of an appeal changes'),
    ])
  })

  it('is part of a plan, and run-again sends all rows unless it is asked for again', async () => {
    onlyInLongForm()
    const { json, sluice, workspace, service } = await setUp()
    const plan = join(workspace, 'nightly.plan.json')
    const first = await json(createRows(2), '--only-new', '--save-plan', plan)
    expect(JSON.parse(readFileSync(plan, 'utf8'))).toMatchObject({ onlyNew: {} })
    writeSource(workspace, 'posts.csv', createRows(3))
    const nightly = JSON.parse((await sluice(['plan', plan, '--trust-plan', '--json'])).stdout)
    expect(nightly.rows).toMatchObject({ skipped: 2, succeeded: 1 })
    const again = await sluice(['run-again', first.run_id, '--keep-post-ids'])
    expect(again.stderr).toContain('add --only-new')
    expect(countArrived(service)).toBe(6)
    await sluice(['run-again', first.run_id, '--keep-post-ids', '--only-new'])
    expect(countArrived(service)).toBe(6)
  })
})

it('neither loses nor doubles a row when a run is killed and its file is sent again with --only-new', async () => {
  onlyInLongForm()
  const sandbox = await withSandbox({ latency: '20ms' })
  const workspace = createTemporaryFolder()
  const env = { SLUICE_API_KEY: sandbox.key }
  const posts = writeSource(workspace, 'posts.csv', createRows(400))
  const to = ['task', posts, '--base-url', sandbox.baseUrl, '--json']
  const killed = await spawnSluice([...to, '--concurrency', '8'], {
    workspace,
    env,
    onStart: (child) =>
      void waitFor(async () => expect((await sandbox.stats()).tasks).toBeGreaterThan(60), {
        timeout: 20_000,
        interval: 5,
      }).then(() => child.kill('SIGKILL')),
  })
  expect(killed.code).toBe(null)
  const taken = (await sandbox.stats()).tasks
  const told = await runInProcess([...to, '--only-new', '--dry-run'], { workspace, env })
  const { rows, sent_before: sentBefore } = JSON.parse(told.stdout)
  expect(rows.skipped + rows.sendable).toBe(400)
  // All that arrived is known as sent or as unknown.
  expect(sentBefore.rows).toBeGreaterThanOrEqual(taken)
  const sent = await runInProcess([...to, '--only-new', '--on-unknown', 'skip'], { workspace, env })
  expect(JSON.parse(sent.stdout).rows).toMatchObject({
    skipped: sentBefore.rows,
    succeeded: 400 - sentBefore.rows,
  })
  expect((await sandbox.stats()).outcomes).toEqual({ accepted: taken + 400 - sentBefore.rows })
  const rest = await runInProcess([...to, '--only-new', '--on-unknown', 'resend'], { workspace, env })
  // Only rows that were told as unknown arrive a second time.
  const { outcomes, tasks } = await sandbox.stats()
  expect(tasks).toBe(400)
  expect(Object.values(outcomes).reduce((sum, n) => sum + n, 0) - 400).toBeLessThanOrEqual(sentBefore.unknown)
  expect(JSON.parse(rest.stdout).rows.skipped).toBe(400 - sentBefore.unknown)
})
