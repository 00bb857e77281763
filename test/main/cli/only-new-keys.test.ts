import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRecordingService } from '../../helpers/recording-service.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

async function setUp() {
  const service = await startRecordingService()
  onTestFinished(() => service.close())
  const workspace = createTemporaryFolder()
  const sluice = (args: readonly string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  const json = async (content: string, ...args: string[]) => {
    const file = writeSource(workspace, 'posts.csv', content)
    return JSON.parse((await sluice(['task', file, '--base-url', service.baseUrl, ...args, '--json'])).stdout)
  }
  return { service, workspace, sluice, json }
}

describe('--only-new', () => {
  it('recognizes rows by a column whose name an earlier file had in another case', async () => {
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

  it('refuses files of a folder that this machine serves, at an address of each run', async () => {
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
