import { describe, expect, it } from 'vitest'
import { createDesktopHost } from '../../../src/main/bridge/desktop-host.ts'
import { toExportName } from '../../../src/main/bridge/results-handlers.ts'
import { createExcerpts } from '../../../src/main/bridge/sources.ts'

describe('excerpts', () => {
  it('cut long cells, never inside a character, and say how long they are', () => {
    const cells = ['short', 'x'.repeat(301), `${'y'.repeat(299)}😀 and more`]
    const excerpts = createExcerpts(cells)
    expect(excerpts.cells).toEqual(['short', 'x'.repeat(300), 'y'.repeat(299)])
    expect(excerpts.cellLengths).toEqual([5, 301, 310])
    expect(excerpts.cells.every((cell) => cell.isWellFormed())).toBe(true)
  })
})

describe('the name of an export', () => {
  it.each([
    ['posts.csv', 'posts-r1.csv'],
    ['../../etc/passwd', 'etc-passwd-r1.csv'],
    ['Nachrichten für März.tsv', 'Nachrichten-für-März-r1.csv'],
    ['con: <script>"x"', 'con-script-x-r1.csv'],
    ['\u202E\u0000', 'r1.csv'],
    ['评论'.repeat(200), `${'评论'.repeat(60)}-r1.csv`],
  ])('of %j is %j', (name, expected) => {
    expect(toExportName(name, 'r1', 'csv')).toBe(expected)
  })
})

describe('an export on the desktop', () => {
  const place = { format: 'csv', name: 'x' } as const

  it('goes to the file from the save dialog, once', async () => {
    const host = createDesktopHost(async () => false)
    const { targetId } = host.addExportFile('/tmp/chosen.csv')
    await expect(host.placeExport({ targetId, ...place })).resolves.toMatchObject({ file: '/tmp/chosen.csv' })
    await expect(host.placeExport({ targetId, ...place })).rejects.toMatchObject({ code: 'BAD_USAGE' })
  })

  it.each([undefined, '/tmp/chosen.csv', 'a guess'])('is refused for the handle %j', async (targetId) => {
    const host = createDesktopHost(async () => false)
    host.addExportFile('/tmp/chosen.csv')
    await expect(host.placeExport({ targetId, ...place })).rejects.toMatchObject({ code: 'BAD_USAGE' })
  })

  it("is refused if the chosen name has another format's extension", async () => {
    const host = createDesktopHost(async () => false)
    const { targetId } = host.addExportFile('/tmp/x.jsonl')
    await expect(host.placeExport({ targetId, ...place })).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: '/tmp/x.jsonl does not end in .csv',
    })
  })
})
