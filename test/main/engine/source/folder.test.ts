import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { failReadingAny, readAnySource } from './read-source.ts'
import { createMp4, createWebm } from './video-files.ts'

/** Writes files by their paths inside a folder of the running test; returns the folder. */
function writeFolder(files: Record<string, string | Uint8Array>): string {
  const folder = join(createTemporaryFolder(), 'posts')
  mkdirSync(folder)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

test('texts, requests and media fill the columns of their kind, in the order of their paths', async () => {
  const folder = writeFolder({
    'b.txt': 'second\n',
    'a/z.json': '{"text_data":"x"}',
    'a/B.JPG': 'not looked into',
    'a.md': '\uFEFF# ü ',
    'a-b.txt': 'before a/',
    'Ä.html': '<p>hi</p>',
  })
  const source = await readAnySource(folder)
  expect(source.columns).toEqual(['path', 'kind', 'text_data', 'request', 'media'])
  expect(source.cells).toEqual([
    ['a-b.txt', 'text', 'before a/', '', ''],
    ['a.md', 'text', '# ü ', '', ''],
    ['a/B.JPG', 'media', '', '', 'a/B.JPG'],
    ['a/z.json', 'request', '', '{"text_data":"x"}', ''],
    ['b.txt', 'text', 'second\n', '', ''],
    ['Ä.html', 'text', '<p>hi</p>', '', ''],
  ])
  expect(source.rows.map(({ row }) => row)).toEqual([1, 2, 3, 4, 5, 6])
  expect(source.problems).toEqual([])
})

test('a single line of UTF-16 or UTF-32 is text without a byte-order mark, whatever it says', async () => {
  const lines = ['hi', 'Schöne Grüße, déjà vu', '{"id":1}', '["a"]', 'null']
  for (const encoding of ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be']) {
    const folder = writeFolder(
      Object.fromEntries(
        lines.map((line, index) => [`${index}.txt`, iconv.encode(line, encoding, { addBOM: false })]),
      ),
    )
    const { cells, problems } = await readAnySource(folder)
    expect({ encoding, cells: cells.map((row) => row[2]), problems }).toEqual({
      encoding,
      cells: lines,
      problems: [],
    })
  }
})

test('texts are decoded like CSV files, each separately', async () => {
  const folder = writeFolder({
    '1.txt': Buffer.from('\uFEFFd\u00e9j\u00e0', 'utf16le'),
    '2.txt': Buffer.from('déjà vu, Müller straße, garçon', 'latin1'),
    '3.txt': 'déjà',
  })
  expect((await readAnySource(folder)).cells.map((cells) => cells[2])).toEqual([
    'déjà',
    'déjà vu, Müller straße, garçon',
    'déjà',
  ])
  const given = await readAnySource(folder, { encoding: 'utf-8' })
  expect(given.problems).toEqual([
    'nul_character 1 error',
    'undecodable_bytes 1 warning',
    'undecodable_bytes 2 warning',
  ])
  expect(await failReadingAny(folder, { encoding: 'klingon' })).toContain('`klingon` is unknown')
})

test('a file that cannot be sent is a row that says why', async () => {
  const folder = writeFolder({
    'archive.zip': 'PK',
    empty: '',
    'empty.txt': '',
    'fake.txt': '%PDF-1.7\n',
    'huge.txt': 'x'.repeat(8 * 1024 * 1024 + 1),
    'none.png': '',
    'null.txt': 'one\0two',
  })
  const source = await readAnySource(folder)
  expect(
    source.rows.flatMap((row) => row.problems.map((one) => `${row.cells[0]} ${formatProblem(one)}`)),
  ).toEqual([
    'archive.zip row 1: must be text, JSON, an image, a video or audio, found `.zip`',
    'empty row 2: must be text, JSON, an image, a video or audio, found `a name without an ending`',
    'empty.txt row 3: must not be empty, found `0 bytes`',
    'fake.txt row 4: must be readable, found `expected text, found a PDF document`',
    'huge.txt row 5: must be at most 8 MiB, found `8.0 MiB`',
    'none.png row 6: must not be empty, found `0 bytes`',
    'null.txt row 7: must not contain a NUL character; line 1 does, found `one␀two`',
  ])
  expect(source.problems.every((problem) => problem.endsWith(' error'))).toBe(true)
  expect(source.cells[5]).toEqual(['none.png', 'media', '', '', 'none.png'])
})

test('hidden files and files that systems leave in folders are skipped', async () => {
  const folder = writeFolder({
    '.DS_Store': 'x',
    '.git/a.txt': 'x',
    'Thumbs.db': 'x',
    '__MACOSX/a.txt': 'x',
    'sub/desktop.ini': 'x',
    'sub/a.txt': 'kept',
  })
  expect((await readAnySource(folder)).cells).toEqual([['sub/a.txt', 'text', 'kept', '', '']])
})

test.skipIf(process.platform === 'win32')(
  'links inside the folder cause no duplicates and no loop, and links out of it are named',
  async () => {
    const folder = writeFolder({ 'a.txt': 'a', 'sub/b.txt': 'b', '.hidden/c.txt': 'c', '.hidden/d.txt': 'd' })
    writeFileSync(join(dirname(folder), 'secret.txt'), 'secret')
    symlinkSync('a.txt', join(folder, 'alias.txt'))
    symlinkSync('..', join(folder, 'sub', 'loop'))
    symlinkSync('sub', join(folder, 'sub-again'))
    symlinkSync('.hidden', join(folder, 'shown'))
    symlinkSync('.hidden', join(folder, 'shown-again'))
    symlinkSync('.hidden/c.txt', join(folder, 'c.txt'))
    symlinkSync('../secret.txt', join(folder, 'secret.txt'))
    symlinkSync('../..', join(folder, 'sub', 'out'))
    symlinkSync('gone.txt', join(folder, 'broken.txt'))
    const source = await readAnySource(folder)
    expect(
      source.rows.map(({ cells, problems }) => [cells[0], cells[2], ...problems.map((one) => one.code)]),
    ).toEqual([
      ['a.txt', 'a'],
      ['broken.txt', '', 'unreadable_file'],
      ['c.txt', 'c'],
      ['secret.txt', '', 'outside_folder'],
      ['shown/c.txt', 'c'],
      ['shown/d.txt', 'd'],
      ['sub/b.txt', 'b'],
      ['sub/out', '', 'outside_folder'],
    ])
    expect(source.problems.every((problem) => problem.endsWith(' error'))).toBe(true)
  },
)

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'an unreadable file is a row that says so',
  async () => {
    const folder = writeFolder({ 'a.txt': 'a', 'b.png': 'b' })
    chmodSync(join(folder, 'a.txt'), 0)
    chmodSync(join(folder, 'b.png'), 0)
    expect((await readAnySource(folder)).problems).toEqual([
      'unreadable_file 1 error',
      'unreadable_file 2 error',
    ])
  },
)

test('a video over an hour is a warning if its file states its length', async () => {
  const folder = writeFolder({
    '1.mp4': createMp4(3601),
    '2.mp4': createMp4(3600),
    '3.webm': createWebm(4325),
    '4.mkv': createWebm(10),
    '5.mov': 'not a video at all',
    '6.mp3': 'audio has no limit',
  })
  const source = await readAnySource(folder)
  expect(source.rows.flatMap((row) => row.problems.map(formatProblem))).toEqual([
    'row 1: is longer than 1 hour, the longest that the service accepts; it is sent anyway, found `1:00:01`',
    'row 3: is longer than 1 hour, the longest that the service accepts; it is sent anyway, found `1:12:05`',
  ])
  expect(source.problems).toEqual(['video_too_long 1 warning', 'video_too_long 3 warning'])
  expect(source.cells.map((cells) => cells[4])).toEqual([
    '1.mp4',
    '2.mp4',
    '3.webm',
    '4.mkv',
    '5.mov',
    '6.mp3',
  ])
})

test('the amount read reaches the size that was reported first', async () => {
  const folder = writeFolder(
    Object.fromEntries(Array.from({ length: 1203 }, (_, index) => [`${index}.txt`, `text ${index}`])),
  )
  const reader = await openSource({ path: folder, header: true })
  const sizes: number[] = []
  let rows = 0
  for await (const batch of reader.batches()) {
    rows += batch.rows.length
    sizes.push(batch.bytesRead)
  }
  expect(rows).toBe(1203)
  expect(sizes.length).toBeGreaterThan(2)
  expect(sizes.at(-1)).toBe(reader.sizeBytes)
  reader.close()
})

test('an empty folder, a missing one and a file have different errors', async () => {
  const folder = createTemporaryFolder()
  expect(await failReadingAny(folder)).toContain('found an empty folder (hidden files are skipped)')
  expect(await failReadingAny(join(folder, 'gone'), { format: 'folder' })).toContain('ENOENT')
  writeFileSync(join(folder, 'a.txt'), 'x')
  expect(await failReadingAny(join(folder, 'a.txt'), { format: 'folder' })).toContain('found a file')
})
