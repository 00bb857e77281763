import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Ledger, ledgerSchema } from '../../../src/shared/lookback/ledger.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

async function openWorkspace() {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox({ seed: 'ledger' })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const send = (...args: string[]) => sluice(...args, '--base-url', sandbox.baseUrl, '--json', '--quiet')
  const readJson = async (...args: string[]): Promise<Ledger> =>
    ledgerSchema.parse(JSON.parse((await sluice('ledger', ...args, '--json')).stdout))
  return { folder, workspace, sandbox, sluice, send, readJson }
}

describe('ledger', () => {
  it('shows an index, filters it, and exports it as the source of a removal', async () => {
    const { folder, sandbox, sluice, send, readJson } = await openWorkspace()
    const images = writeSource(
      folder,
      'images.csv',
      'url,metadata\nhttps://media.example.com/1.png,"{""from"":""upload""}"\nhttps://media.example.com/2.png,\n',
    )
    await send('index', 'add', images, '--index', 'sandbox-index')
    const { stdout } = await sluice('ledger', 'index')
    expect(stdout).toContain(
      `Custom index sandbox-index at ${sandbox.baseUrl} (key in SLUICE_API_KEY), from 1 run`,
    )
    expect(stdout).toContain('2 known')
    expect(stdout).toMatch(/known +\d{4}-\d\d-\d\d \d\d:\d\d +https:\/\/media\.example\.com\/1\.png/)
    const file = join(folder, 'items.csv')
    const exported = await sluice('ledger', 'index', '--search', 'UPLOAD', '--export', file)
    expect(exported.stdout).toMatch(/^1 row in .*items\.csv/)
    expect(readFileSync(file, 'utf8')).toContain(
      'https://media.example.com/1.png,,"{""from"":""upload""}",,known',
    )
    expect(await send('index', 'remove', file, '--index', 'sandbox-index')).toMatchObject({ code: 0 })
    expect(await readJson('index', '--state', 'removed')).toMatchObject({
      of: 'index',
      list: 'sandbox-index',
      counts: { known: 1, removed: 1 },
      entries: [{ state: 'removed', url: 'https://media.example.com/1.png' }],
    })
    const held = await sandbox.indexItems('sandbox-index')
    expect(await readJson('index')).toMatchObject({
      entries: [{ custom_index_item_id: held[0]?.custom_index_item_id }],
    })
  })

  it('shows the terms of a watchlist', async () => {
    onlyInLongForm()
    const { folder, sluice, send, sandbox } = await openWorkspace()
    const terms = writeSource(folder, 'terms.csv', 'term,notes\nPremium Rate,scam\u001b[2J\ngift card,\n')
    await send('watchlist', 'add', terms, '--watchlist', 'sandbox_terms')
    const { stdout } = await sluice('ledger', 'watchlist', '--base-url', sandbox.baseUrl)
    expect(stdout).toMatch(/premium rate +known +pre-existing +.* scam\\u\{1b\}\[2J/)
    expect((await sluice('ledger', 'watchlist', '--state', 'gone')).stderr).toContain('known, absent, failed')
  })

  it('shows appeals, and appeal --recheck checks only those still in review', async () => {
    onlyInLongForm()
    const { folder, sandbox, sluice, send } = await openWorkspace()
    const appeals = [{ appeal_id: 'open' }, { appeal_id: 'decided', status: 'Reviewed', judgment: {} }]
    await sandbox.admin('POST', '/appeals', { appeals })
    await send('appeal', writeSource(folder, 'appeals.csv', 'appeal_id\nopen\ndecided\nmissing\n'))
    const recheck = await send('appeal', '--recheck')
    expect(JSON.parse(recheck.stdout)).toMatchObject({
      rows: { read: 1, succeeded: 1 },
      appeals: { in_review: 1 },
    })
    await sandbox.admin('POST', '/appeals', { appeals: [{ ...appeals[1], appeal_id: 'open' }] })
    await send('appeal', '--recheck')
    const { stdout } = await sluice('ledger', 'appeals')
    expect(stdout).toContain('2 reviewed, 1 not found')
    expect(stdout).toMatch(/open +reviewed +.*3 +in review/)
    const done = await send('appeal', '--recheck')
    expect(done).toMatchObject({ code: 0, stdout: '' })
    expect(done.stderr).toContain('Nothing was sent')
    expect(await sluice('appeal', '--base-url', sandbox.baseUrl)).toMatchObject({ code: 2 })
    expect(await send('appeal', join(folder, 'appeals.csv'), '--recheck')).toMatchObject({ code: 2 })
  })
})
