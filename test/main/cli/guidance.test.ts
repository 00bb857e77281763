import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const NOWHERE = ['--base-url', 'http://127.0.0.1:9', '--dry-run']

function open() {
  const folder = createTemporaryFolder()
  const run = (args: readonly string[], key = '') =>
    runInProcess(args, {
      workspace: join(folder, 'workspace'),
      env: key === '' ? {} : { SLUICE_API_KEY: key },
    })
  return { folder, run }
}

/** A sheet with rows of two texts. */
function toSheet(name: string, rows: readonly (readonly [string, string])[]) {
  const xml = rows.map((cells, index) => {
    const inline = cells.map(
      (text, column) => `<c r="${'AB'[column]}${index + 1}" t="inlineStr"><is><t>${text}</t></is></c>`,
    )
    return `<row r="${index + 1}">${inline.join('')}</row>`
  })
  return { name, rows: xml.join('') }
}

async function writeWorkbook(folder: string) {
  const file = join(folder, 'book.xlsx')
  const sheets = [
    toSheet('Notes', [
      ['kind', 'remark'],
      ['a', 'b'],
    ]),
    toSheet('Posts', [
      ['text_data', 'user_id'],
      ['Hello', 'u1'],
    ]),
  ]
  writeFileSync(file, await createWorkbook({ sheets }))
  return file
}

describe('columns whose names are not those of fields', () => {
  it('are guessed for required fields, and shown before anything is sent', async () => {
    const { folder, run } = open()
    const file = writeSource(folder, 'posts.csv', 'author,Category,Tweet\nu1,sports,What a game\n')
    const shown = await run(['task', file, ...NOWHERE, '--quiet'])
    expect(shown.code).toBe(0)
    expect(shown.stderr).toContain('Using column `Tweet` for text_data')
    expect(shown.stderr).toContain('Using column `author` for user_id')
    expect(shown.stdout).toContain('What a game')
    expect(shown.stdout).not.toContain('content_variant')
    const mapped = await run(['task', file, ...NOWHERE, '--map', 'text_data=Category', '--set', 'user_id=me'])
    expect(mapped.stderr).not.toContain('Guessed')
  })
})

describe('a workbook of several sheets', () => {
  const note =
    'Reading the sheet "Notes" (1 row). The workbook also has "Posts" (1 row). To read another sheet, add --sheet NAME.'
  const noteOfRun =
    'Reading the sheet "Notes" (1 row). The workbook also has "Posts". To read another sheet, add --sheet NAME.'

  it('has the sheet named that is read, before the rows and in errors about the mapping', async () => {
    onlyInLongForm()
    const { folder, run } = open()
    const file = await writeWorkbook(folder)
    const mapped = await run(['task', file, ...NOWHERE, '--map', 'text_data=kind', '--map', 'user_id=remark'])
    expect(mapped.code).toBe(0)
    expect(mapped.stderr).toContain(note)
    const quiet = await run(['task', file, ...NOWHERE, '--quiet'])
    expect(quiet.code).toBe(2)
    expect(quiet.stderr.replaceAll(/\s+/g, ' ')).toContain(noteOfRun)
  })

  it('is not mentioned if the sheet is stated', async () => {
    onlyInLongForm()
    const { folder, run } = open()
    const named = await run(['task', await writeWorkbook(folder), ...NOWHERE, '--sheet', 'Posts'])
    expect(named).toMatchObject({ code: 0, stderr: '' })
  })
})

it('says where a plan was written, how to run it, and whether it replaced another', async () => {
  const { folder, run } = open()
  const source = writeSource(folder, 'posts.csv', createRows(1))
  const file = join(folder, 'my plan.json')
  const save = ['task', source, ...NOWHERE, '--save-plan', file]
  const first = await run(save)
  expect(first.stderr).toContain(
    `Plan saved: ${file}. Run it with: npm run -s sluice -- plan '${file}' --trust-plan`,
  )
  const second = await run(save)
  expect(second.stderr).toContain(`Plan replaced: ${file}. Run it with`)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ operation: { kind: 'task' } })
})

it('names a command that runs a saved plan, without an option that a stored connection makes needless', async () => {
  onlyInLongForm()
  const { folder, run } = open()
  const source = writeSource(folder, 'posts.csv', createRows(1))
  const save = (name: string, ...to: string[]) =>
    run(['task', source, ...to, '--dry-run', '--save-plan', join(folder, name)])
  await run([
    'connection',
    'add',
    'local',
    '--base-url',
    'http://127.0.0.1:9',
    '--key',
    'default=SLUICE_API_KEY',
  ])
  const stored = await save('stored.json', '--connection', 'local')
  const bare = await save('bare.json', '--base-url', 'http://127.0.0.1:7')
  const told = [stored, bare].map(({ stderr }) => /plan \S+json.*/.exec(stderr)?.[0])
  expect(told).toEqual([
    `plan ${join(folder, 'stored.json')}`,
    `plan ${join(folder, 'bare.json')} --trust-plan`,
  ])
  for (const command of told) {
    const args = String(command).split(' ')
    expect((await run([...args, '--dry-run'])).code).toBe(0)
  }
})

it('reports only the missing address of media, and the options that give one', async () => {
  onlyInLongForm()
  const { folder, run } = open()
  const posts = join(folder, 'posts')
  mkdirSync(posts)
  writeFileSync(join(posts, 'one.jpg'), 'picture')
  const result = await run(['task', posts, ...NOWHERE, '--set', 'user_id=u', '--json'])
  expect(result.code).toBe(2)
  const { problems } = JSON.parse(result.stdout) as { problems: { severity: string; message: string }[] }
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)
  expect(errors).toEqual([expect.stringMatching(/needs an address.*--media-template.*--media-host/)])
})

it('says that nothing is left of a run, and that retry sends unsuccessful rows, without a key', async () => {
  onlyInLongForm()
  const { folder, run } = open()
  const sandbox = await withSandbox({ faults: ['400=100%'] })
  const source = writeSource(folder, 'posts.csv', createRows(2))
  expect((await run(['task', source, '--base-url', sandbox.baseUrl], sandbox.key)).code).toBe(1)
  const result = await run(['resume', 'latest'])
  expect(result.code).toBe(1)
  expect(result.stderr).toMatch(
    /^Run \S+ has nothing left to send\. To send unsuccessful rows again: npm run -s sluice -- retry \S+\n$/,
  )
})

it('says which of two columns with the same name is used, unless its number was given', async () => {
  onlyInLongForm()
  const { folder, run } = open()
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data,user_id\nann,hello,bob\n')
  const read = async (...flags: string[]) => {
    const result = await run(['task', source, ...NOWHERE, ...flags, '--dry-run', '--json'])
    const { problems, first_request } = JSON.parse(result.stdout)
    const found = problems.filter(({ code }: { code: string }) => code === 'ambiguous_column')
    return { user: first_request.body.user_id, found }
  }
  const silent = {
    field: 'user_id',
    severity: 'warning',
    message: expect.stringContaining('columns 1 and 3'),
  }
  expect(await read()).toMatchObject({ user: 'ann', found: [silent] })
  expect(await read('--map', 'user_id=3')).toEqual({ user: 'bob', found: [] })
  // A placeholder also means the first of them, and is reported once for its field.
  const template = 'user_id={{user_id}} {{ user_id }}'
  expect(await read('--set', template)).toMatchObject({ user: 'ann ann', found: [silent] })
  expect((await read('--set', template)).found).toHaveLength(1)
})

it('lists rows of a folder with the same cause together, and only that cause', async () => {
  onlyInLongForm()
  const { folder, run } = open()
  const posts = join(folder, 'posts')
  mkdirSync(posts)
  for (let file = 1; file <= 6; file += 1) writeFileSync(join(posts, `${file}.bin`), 'x')
  const result = await run(['task', posts, ...NOWHERE, '--set', 'user_id=u', '--dry-run'])
  expect(result.stdout).toMatch(
    /6 rows {2}must be text, JSON, an image, a video or audio\n +rows 1, 2, 3, 4, 5, 6: found `\.bin`\n/,
  )
  expect(result.stdout).not.toContain('must have exactly one of')
})
