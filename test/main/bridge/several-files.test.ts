import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'

async function openFiles() {
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  const folder = createTemporaryFolder()
  const ids: string[] = []
  for (const [name, content] of Object.entries({
    'a.csv': 'id,text\n1,one\n',
    'b.csv': 'text;id\ntwo;2\n',
    'c.csv': 'id\n3\n',
  })) {
    writeFileSync(join(folder, name), content)
    ids.push((await bridge.services.sources.add(join(folder, name))).sourceId)
  }
  return { client, ids, folder }
}

it('files that are chosen together become one source, and one of them can be left out again', async () => {
  const { client, ids, folder } = await openFiles()
  const whole = await client.source.unite({ sourceIds: ids })
  expect(whole).toMatchObject({ name: 'a.csv and 2 more', sizeBytes: 33 })
  const preview = await client.source.preview({ source: { sourceId: whole.sourceId, header: true } })
  expect(preview.files?.map(({ name, format }) => [name, format])).toEqual([
    ['a.csv', 'csv'],
    ['b.csv', 'csv'],
    ['c.csv', 'csv'],
  ])
  expect(JSON.stringify(preview)).not.toContain(folder)
  expect(preview.rows.map(({ place }) => `${place.row} of ${place.file}`)).toEqual([
    '2 of a.csv',
    '2 of b.csv',
    '2 of c.csv',
  ])
  const less = await client.source.leaveOut({ sourceId: whole.sourceId, file: 1 })
  const { rows } = await client.source.preview({ source: { sourceId: less.sourceId, header: true } })
  expect(rows.map(({ cells }) => cells[0])).toEqual(['1', '3'])
})

it('a file that cannot be read with the others is named without its path', async () => {
  const { client, ids, folder } = await openFiles()
  writeFileSync(join(folder, 'c.csv'), 'Other\n3\n')
  const { sourceId } = await client.source.unite({ sourceIds: ids })
  const error = await client.source.preview({ source: { sourceId, header: true } }).catch((thrown) => thrown)
  expect(error.message).toMatch(/c\.csv.*its columns \(Other\) have no name in common/)
  expect(JSON.stringify(error)).not.toContain(folder)
})

it("a preview of several files has the rows of each, and shows an uncertain file's words in other encodings", async () => {
  const { client, ids, folder } = await openFiles()
  writeFileSync(join(folder, 'b.csv'), Buffer.from('id,text\n1,\xe6\xf8\xe5\n\n2,b\n', 'latin1'))
  const long = `${'x'.repeat(99)}\n`.repeat(6_000)
  writeFileSync(join(folder, 'c.csv'), `id\n${long}`)
  const { sourceId } = await client.source.unite({ sourceIds: ids })
  const { files = [], rows } = await client.source.preview({ source: { sourceId, header: true } })
  expect(rows.length).toBe(100)
  expect(files.slice(0, 2).map((file) => file.rows)).toEqual([
    { count: 1, isExact: true },
    { count: 2, isExact: true },
  ])
  const estimate = files[2]?.rows
  expect(estimate?.isExact).toBe(false)
  expect(estimate?.count).toBeGreaterThan(5_900)
  expect(estimate?.count).toBeLessThan(6_100)
  expect(files[0]?.encodingReadings).toBeUndefined()
  expect(files[1]?.encodingReadings).toContainEqual({ encoding: 'windows-1252', sample: 'æøå' })
})

it('a folder with one table is previewed as that file, with the doubt about its encoding', async () => {
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'a.csv'), Buffer.from('id,text\n1,\xe6\xf8\xe5\n', 'latin1'))
  const { sourceId } = await services.sources.add(folder)
  const preview = await client.source.preview({ source: { sourceId, header: true } })
  expect(preview.files).toBeUndefined()
  expect(preview.encodingReadings).toContainEqual({ encoding: 'windows-1252', sample: 'æøå' })
  const given = { sourceId, header: true, encoding: 'windows-1252' }
  const stated = await client.source.preview({ source: given })
  expect(stated.encodingReadings).toBeUndefined()
  expect(stated.encodingBy).toBe('given')
})
