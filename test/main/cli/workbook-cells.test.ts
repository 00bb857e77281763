import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'

const toRow = (number: number, cells: readonly string[], attributes = '') =>
  `<row r="${number}" ${attributes}>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`

/** A workbook with links, merged cells and a hidden row. */
async function writeWorkbook(path: string): Promise<string> {
  const rows = [
    toRow(1, ['user_id', 'url']),
    toRow(2, ['u1', 'photo']),
    toRow(3, ['', 'photo']),
    toRow(4, ['u2', 'https://cdn.test/3.jpg'], 'hidden="1"'),
  ]
  const relation = (id: number) =>
    `<Relationship Id="rId${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="https://cdn.test/${id}.jpg" TargetMode="External"/>`
  const workbook = await createWorkbook({
    sheets: [
      {
        name: 'S',
        rows: rows.join(''),
        after:
          '<mergeCells><mergeCell ref="A2:A3"/></mergeCells><hyperlinks><hyperlink ref="B2" r:id="rId1"/><hyperlink ref="B3" r:id="rId2"/></hyperlinks>',
      },
    ],
    parts: {
      'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation(1)}${relation(2)}</Relationships>`,
    },
  })
  writeFileSync(path, workbook)
  return path
}

it('says what is behind the cells of a workbook, and sends it as a person asks', async () => {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const path = await writeWorkbook(join(folder, 'book.xlsx'))
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const send = (...options: string[]) => sluice('task', path, '--base-url', sandbox.baseUrl, ...options)

  const looked = await send('--dry-run')
  expect(looked.stdout).toContain('the spreadsheet hides the row, but it is sent\n      row 4')
  expect(looked.stdout).toContain('row 3: A3 is empty because it is merged with A2')
  expect(looked.stdout).toContain('add --merged fill')
  expect(looked.stdout).toContain('such as B2: its link is https://cdn.test/1.jpg')
  expect(looked.stdout).toContain("--map 'url=link of url'")

  const asked = ['--merged', 'fill', '--rows', 'all', '--map', 'url=link of url']
  const sent = await send(...asked, '--json')
  expect(sent.code, sent.stdout + sent.stderr).toBe(0)
  const { run_id: runId, source_read: read } = JSON.parse(sent.stdout)
  expect(read.read_as).toMatchObject([{ rows: 'all', merged: 'fill', links: ['url'] }])
  const rows = await Promise.all(
    ['2', '3', '4'].map(async (row) => {
      const shown = await sluice('show', runId, '--row', row, '--json')
      return JSON.parse(JSON.parse(shown.stdout).request_body)
    }),
  )
  expect(rows).toMatchObject([
    { user_id: 'u1', url: 'https://cdn.test/1.jpg' },
    { user_id: 'u1', url: 'https://cdn.test/2.jpg' },
    { user_id: 'u2', url: 'https://cdn.test/3.jpg' },
  ])
  const exported = join(folder, 'out.csv')
  expect((await sluice('export', runId, exported)).code).toBe(0)
  expect(readFileSync(exported, 'utf8')).toContain('u1,photo,https://cdn.test/2.jpg')

  const last = await send('--mapping', 'last', '--merged', 'fill', '--rows', 'all', '--dry-run')
  expect(last.stdout).toContain('3 can be sent')

  const plan = join(folder, 'plan.json')
  await send(...asked, '--dry-run', '--save-plan', plan)
  expect(JSON.parse(readFileSync(plan, 'utf8'))).toMatchObject({
    source: { merged: 'fill', rows: 'all' },
    mapping: { url: { kind: 'column', column: 'link of url' } },
  })
  expect((await sluice('plan', plan, '--dry-run')).stdout).toContain('"url": "https://cdn.test/1.jpg"')
})

it('draws a sample of a workbook whose merged cells are filled', async () => {
  const folder = createTemporaryFolder()
  const path = await writeWorkbook(join(folder, 'book.xlsx'))
  const file = join(folder, 'sample.csv')
  const drawn = await runInProcess(['sample', path, file, '--size', '3', '--merged', 'fill'], {
    workspace: join(folder, 'workspace'),
  })
  expect(drawn.code, drawn.stderr).toBe(0)
  expect(readFileSync(file, 'utf8')).toMatch(/^u1,photo.*\r?\nu1,photo/m)
})
