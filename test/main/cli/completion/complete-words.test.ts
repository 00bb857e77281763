import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { runInProcess } from '../run-in-process.ts'

/** A workspace that does not exist: completion must not create one. */
const EMPTY = join(import.meta.dirname, 'no-such-workspace')

/** The completions of a line whose last word is at the cursor. */
async function complete(line: string, workspace = EMPTY) {
  const words = line.split(' ')
  const args = [...words.slice(0, -1), `${words.at(-1)}.`]
  const { code, stdout, stderr } = await runInProcess(['__complete', ...args], { workspace })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [paths, ...lines] = stdout.trimEnd().split('\n')
  return { paths, values: lines.map((text) => text.split('\t', 1).join()), lines }
}

describe('completion', () => {
  it('offers commands with their descriptions', async () => {
    expect((await complete('ta')).lines).toEqual(['task\tsubmit content for moderation'])
    expect((await complete('')).values).toEqual(expect.arrayContaining(['task', 'completion', 'help']))
    expect((await complete('connection ')).values).toEqual([
      'add',
      'set',
      'key',
      'list',
      'show',
      'use',
      'remove',
    ])
  })

  it('offers commands and topics after help', async () => {
    expect((await complete('help e')).values).toEqual(['export', 'evaluate', 'exports', 'evaluation'])
  })

  it('offers the options of the command at the cursor, its inner commands included', async () => {
    expect((await complete('task posts.csv --ma')).lines).toEqual([
      '--mapping\tsaved mapping to begin with, or `last` for that of the last run of a file with the same columns',
      '--map\tcolumn for a field, by name or number from 1; repeatable',
    ])
    expect((await complete('index add images.csv --ind')).values).toEqual(['--index'])
    expect((await complete('index --ind')).values).toEqual([])
    expect((await complete('task -- --ma')).values).toEqual([])
  })

  it('offers the values of an option, as a separate word or after the equals sign', async () => {
    expect((await complete('task posts.csv --api ')).values).toEqual(['v1', 'v2'])
    expect((await complete('task posts.csv --api=v')).values).toEqual(['--api=v1', '--api=v2'])
    expect(await complete('task posts.csv --model ')).toMatchObject({ paths: 'none', values: [] })
  })

  it.each([
    ['task ', 'files'],
    ['task --api v1 ', 'files'],
    ['task --ca ', 'files'],
    ['task --ca=', 'files'],
    ['task --workspace ', 'folders'],
    ['import-k6 a.json b.json ', 'files'],
    ['wipe ', 'none'],
    ['task posts.csv ', 'files'],
  ])('leaves %j to the shell: %s', async (line, paths) => {
    expect(await complete(line)).toMatchObject({ paths, values: [] })
  })

  it('offers the runs of the workspace, the newest first', async () => {
    const workspace = createTemporaryFolder()
    const [older, newer] = ['20261121-091500-123abcd', '20261122-101500-123abcd']
    mkdirSync(join(workspace, 'runs'))
    for (const runId of [older, newer]) writeFileSync(toJournalFile(workspace, runId), '')
    expect(await complete('show ', workspace)).toMatchObject({ values: ['latest', newer, older] })
    expect((await complete('compare latest 20261121', workspace)).values).toEqual([older])
    expect((await complete(`show --workspace ${workspace} lat`)).values).toEqual(['latest'])
    expect((await complete('show lat')).values).toEqual([])
  })

  it('offers stored connections', async () => {
    const workspace = createTemporaryFolder()
    const add = ['connection', 'add', 'staging', '--base-url', 'https://api.example.com']
    expect(await runInProcess(add, { workspace })).toMatchObject({ code: 0 })
    expect((await complete('task posts.csv --connection s', workspace)).lines).toEqual([
      'staging\thttps://api.example.com',
    ])
    expect((await complete('connection use ', workspace)).values).toEqual(['staging'])
  })

  it('offers nothing if a workspace cannot be read', async () => {
    const workspace = createTemporaryFolder()
    writeFileSync(join(workspace, 'connections.json'), '{')
    expect(await complete('task posts.csv --connection ', workspace)).toMatchObject({
      paths: 'none',
      values: [],
    })
  })
})
