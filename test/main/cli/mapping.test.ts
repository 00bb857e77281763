import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changeSavedMappings, readSavedMappings } from '../../../src/main/engine/workspace/saved-mappings.ts'
import { MAPPINGS_MAX, type SavedMapping } from '../../../src/shared/mapping/saved-mappings.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

it('maps a file like the last one with the same columns, or by a saved mapping, and lets options replace fields', async () => {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const write = (name: string) => writeSource(folder, name, 'Nr,Betreff,Nachricht\n1,Hallo,Guten Tag\n')
  const send = (name: string, ...options: string[]) =>
    sluice('task', write(name), '--base-url', sandbox.baseUrl, '--json', ...options)
  const readBody = async (name: string, ...options: string[]) => {
    const ran = await send(name, ...options)
    expect(ran.code, ran.stderr).toBe(0)
    const { run_id: runId } = JSON.parse(ran.stdout)
    const row = await sluice('show', runId, '--row', '2', '--json')
    return JSON.parse(JSON.parse(row.stdout).request_body)
  }
  expect((await sluice('mapping', 'list')).stdout).toBe('No saved mappings.\n')
  const early = await send('early.csv', '--mapping', 'last')
  expect(early).toMatchObject({ code: 2 })
  expect(early.stdout + early.stderr).toContain(
    'none of the newest runs has sent a source with the columns of',
  )

  const own = ['--map', 'text_data=Betreff', '--set', 'user_id=forum']
  expect(await readBody('monday.csv', ...own)).toMatchObject({ text_data: 'Hallo', user_id: 'forum' })
  expect(await readBody('tuesday.csv', '--mapping', 'last')).toMatchObject({
    text_data: 'Hallo',
    user_id: 'forum',
  })
  expect((await sluice('mapping', 'save', 'forum', 'latest')).code).toBe(0)
  expect((await sluice('mapping', 'rename', 'forum', 'board')).code).toBe(0)
  expect((await sluice('mapping', 'list')).stdout).toContain('text_data=column Betreff')
  expect(await readBody('wednesday.csv', '--mapping', 'board', '--map', 'text_data=Nachricht')).toMatchObject(
    { text_data: 'Guten Tag', user_id: 'forum' },
  )
  const terms = write('terms.csv')
  const other = ['watchlist', 'add', terms, '--watchlist', 'w', '--base-url', sandbox.baseUrl]
  expect((await sluice(...other, '--mapping', 'board')).stderr).toContain('fills the fields of task')
  expect((await sluice('mapping', 'save', 'last', 'latest')).stderr).toContain('choose another name')
  expect((await sluice('mapping', 'remove', 'board')).stdout).toBe('removed the mapping board\n')
  expect((await sluice('mapping', 'remove', 'board')).stderr).toContain('See the saved ones with')
})

it('says how many mappings can be saved, and keeps the existing ones', async () => {
  const workspace = createTemporaryFolder()
  const toMapping = (number: number): SavedMapping => ({
    name: `mapping ${number}`,
    operation: 'task',
    mapping: { text_data: { kind: 'column', column: number } },
  })
  const all = Array.from({ length: MAPPINGS_MAX }, (_, index) => toMapping(index + 1))
  changeSavedMappings(workspace, () => all)
  expect(() => changeSavedMappings(workspace, (known) => [...known, toMapping(MAPPINGS_MAX + 1)])).toThrow(
    'there are 200 saved mappings already',
  )
  expect(readSavedMappings(workspace)).toEqual(all)
})
