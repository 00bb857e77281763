import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { startRecordingService } from '../../helpers/recording-service.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

async function setUp() {
  const service = await startRecordingService()
  onTestFinished(() => service.close())
  const workspace = createTemporaryFolder()
  const sluice = (args: readonly string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  const send = (content: string, ...args: string[]) =>
    sluice([
      ...['task', writeSource(workspace, 'posts.csv', content)],
      ...['--base-url', service.baseUrl, ...args],
    ])
  const json = async (content: string, ...args: string[]) =>
    JSON.parse((await send(content, ...args, '--json')).stdout)
  return { service, workspace, sluice, send, json }
}

describe('--only-new', () => {
  it('recognizes rows by a column whose name had another case in an earlier file', async () => {
    onlyInLongForm()
    const { json } = await setUp()
    await json('user_id,text_data,Order ID\nu1,hello,1\nu2,bye,2\n')
    const renamed = 'order_id,user_id,text_data\n1,u1,hi\n3,u3,new\n'
    expect((await json(renamed, '--only-new', '--new-by', 'order_id')).rows).toMatchObject({
      skipped: 1,
      succeeded: 1,
    })
    const several = 'ORDER_ID,order-id,user_id,text_data\n5,6,u5,other\n'
    const { run_id: ofSeveral } = await json(several)
    expect(
      await json('order id,user_id,text_data\n5,u1,a\n6,u2,b\n', '--only-new', '--new-by', 'order id'),
    ).toMatchObject({ rows: { succeeded: 2 }, sent_before: { without_column: [ofSeveral] } })
  })

  it('names the runs whose source has no column that rows are recognized by', async () => {
    const { json, sluice } = await setUp()
    const { run_id: without } = await json('user_id,text_data\nu1,hello\n')
    const sent = await json('user_id,text_data,order\nu1,hello,1\n', '--only-new', '--new-by', 'order')
    expect(sent).toMatchObject({
      rows: { succeeded: 1 },
      sent_before: { rows: 0, without_column: [without] },
    })
    expect((await sluice(['show', 'latest'])).stdout.replaceAll(/\s+/g, ' ')).toContain(
      `What was sent from a source without the column that rows are recognized by counts as new, in ${without}.`,
    )
    const again = await json('user_id,text_data,order\nu1,hello,1\n', '--only-new', '--new-by', 'user_id')
    expect(again.sent_before).not.toHaveProperty('without_column')
  })

  it('refuses a name that several columns have, since one may hide rows that were never sent', async () => {
    const { service, workspace, sluice, send, json } = await setUp()
    await json('user_id,text_data,batch\nu1,hello,1\n')
    const before = service.arrived.size
    const doubled = 'batch,user_id,text_data,batch\n1,u1,new,7\n'
    expect(await send(doubled, '--only-new', '--new-by', 'batch')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('several columns of the source are called `batch`: 1 and 4'),
    })
    const load = ['load', join(workspace, 'posts.csv'), '--base-url', service.baseUrl, '--requests', '2']
    for (const asked of [
      ['--order', 'random', '--weight', 'batch'],
      ['--threshold', 'http_req_duration{batch:1}:p(99)<500'],
    ]) {
      expect(await sluice([...load, '--rate', '5', ...asked])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('several columns of the source are called `batch`: 1 and 4'),
      })
    }
    expect(service.arrived.size).toBe(before)
  })

  it('says how many skipped rows have another text or URL now, and which', async () => {
    const { service, json, send, sluice } = await setUp()
    const head = 'post_id,user_id,text_data,lang\n'
    const first = await json(`${head}p1,u1,one,en\np2,u2,two,en\np3,u3,three,en\n`)
    const changed = `${head}p1,u1,one,de\np2,u2,two!,en\np3,u3,three,en\n`
    const dry = await send(changed, ...['--only-new', '--dry-run'])
    expect(dry.stdout).toMatch(/1 of these has another text, URL or notes now/)
    expect(dry.stdout).toContain('--new-by post_id+text_data')
    expect((await send(changed, ...['--dry-run'])).stdout).toMatch(
      /1 of these has another text, URL or notes now/,
    )
    const sent = await json(changed, '--only-new')
    expect(sent).toMatchObject({ rows: { skipped: 3 }, sent_before: { rows: 3, changed: 1 } })
    const messages = await Promise.all(
      ['2', '3', '4'].map(async (row) => {
        const shown = await sluice(['show', sent.run_id, '--row', row, '--json'])
        return JSON.parse(shown.stdout).result.message
      }),
    )
    expect(messages).toEqual([
      `sent before, in run ${first.run_id}, row 2`,
      `sent before with another text, URL or notes, in run ${first.run_id}, row 3`,
      `sent before, in run ${first.run_id}, row 4`,
    ])
    expect(service.arrived.size).toBe(3)
    const byText = await json(changed, '--only-new', '--new-by', 'post_id+text_data')
    expect(byText.rows).toMatchObject({ skipped: 2, succeeded: 1 })
    expect(byText.sent_before).not.toHaveProperty('changed')
    // The newest text counts, and so does a file that is mapped otherwise.
    expect((await json(changed, '--only-new')).sent_before).not.toHaveProperty('changed')
    const otherwise = 'post_id,user_id,old,text\np1,u1,one,two\n'
    expect(await json(otherwise, '--map', 'text_data=text', '--only-new')).toMatchObject({
      sent_before: { rows: 1, changed: 1 },
    })
  })

  it('lists invalid rows beside skipped ones without calling all rows invalid', async () => {
    const { send } = await setUp()
    const posts = 'post_id,user_id,text_data\np1,u1,hello\np2,,bye\n'
    await send(posts)
    const { stdout } = await send(posts, '--only-new')
    expect(stdout).toContain('Invalid rows\n  ✖ 1 row  user_id: is required but empty')
  })

  it('says how many skipped terms have other notes now', async () => {
    const sandbox = await withSandbox()
    const workspace = createTemporaryFolder()
    const add = async (rows: string, ...args: string[]) => {
      const source = writeSource(workspace, 'terms.csv', `term,notes\n${rows}\n`)
      const to = ['--watchlist', 'sandbox_terms', '--base-url', sandbox.baseUrl]
      return runInProcess(['watchlist', 'add', source, ...to, ...args], {
        workspace,
        env: { SLUICE_API_KEY: sandbox.key },
      })
    }
    await add('Alpha,first\nbeta,second\ngamma,')
    const again = await add('alpha,changed\nbeta,second\ngamma,', '--only-new')
    expect(again.stdout).toContain('3 rows are skipped')
    expect(again.stdout).toContain('1 of these has another text, URL or notes now, and is not sent.')
    expect(again.stdout).toContain('To send changed notes again, add --new-by term+notes.')
  })

  it('refuses files that this machine serves, since each run generates their addresses', async () => {
    onlyInLongForm()
    const { sluice, service, workspace } = await setUp()
    const folder = join(workspace, 'media')
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.png'), 'PNG')
    const add = (...args: string[]) =>
      sluice(['index', 'add', folder, '--index', 'x', '--base-url', service.baseUrl, '--dry-run', ...args])
    for (const args of [[], ['--new-by', 'url'], ['--new-by', 'media']]) {
      const refused = await add('--media-host', '--only-new', ...args)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('generated for each run')])
    }
    for (const args of [
      ['--media-host', '--only-new', '--new-by', 'path'],
      ['--media-template', 'https://m.example/{{path}}', '--only-new'],
    ]) {
      expect(await add(...args)).toMatchObject({ stderr: '', stdout: expect.stringContaining('Rows') })
    }
  })
})
