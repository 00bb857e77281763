import { expect, test } from 'vitest'
import { readAnySource, writeSource } from './read-source.ts'

const MARK = '\uFEFF'

test('byte-order marks of appended tables are removed and reported, and quotes after them open cells', async () => {
  const content = `${MARK}user_id,text_data\nu1,"one, 1"\r\n${MARK}"u2","two, ""2"""\n${MARK}user_id,text_data\nu3,a${MARK}b\n`
  const source = await readAnySource(writeSource(content, 'a.csv'))
  expect(source.cells).toEqual([
    ['u1', 'one, 1'],
    ['u2', 'two, "2"'],
    ['user_id', 'text_data'],
    ['u3', `a${MARK}b`],
  ])
  expect(source.problems).toEqual(['repeated_header 3 error'])
  expect(source.warnings).toEqual([
    '2: has a byte-order mark in front of it, as where files were appended; it is left out',
  ])
})

test('JSON lines of appended files are read behind their byte-order marks', async () => {
  const lines = ['a', 'b'].map((text) => `${MARK}${JSON.stringify({ text_data: text })}\n`)
  const source = await readAnySource(writeSource(`${lines.join('')}${MARK}\n`, 'a.jsonl'))
  expect(source.cells).toEqual([['a'], ['b']])
  expect(source.problems).toEqual([])
  expect(source.warnings).toContain(
    '2: has a byte-order mark in front of it, as where files were appended; it is left out',
  )
})

test('an object whose values are its keys is the header of a table that was appended', async () => {
  const row = (id: unknown, text: unknown, note: unknown = '') => JSON.stringify({ id, text, note })
  const rows = [row(1, 'a'), row('id', ' text'), row('id', 'text', null), row('id', 'b'), row('', 'text')]
  for (const content of [rows.join('\n'), `[${rows.join(',')}]`, `${MARK}${rows.join('\n')}`]) {
    const source = await readAnySource(writeSource(content, 'a.json'))
    expect(source.problems).toEqual(['repeated_header 2 error', 'repeated_header 3 error'])
  }
  const single = await readAnySource(writeSource('{"text":"a"}\n{"text":"text"}\n', 'a.jsonl'))
  expect(single.problems).toEqual([])
})

test('a mark at the beginning of a read, and within a cell, is recognised by what precedes it', async () => {
  const row = `u1,${'x'.repeat(70)}\n`
  const content = `${MARK}user_id,text_data\n${row}${MARK}${row}u2,"line\n${MARK}line"\n`
  for (const readBytes of [1, 3, 18, 92, 64 * 1024]) {
    const source = await readAnySource(writeSource(content, 'a.csv'), { readBytes })
    expect(
      source.cells.map(([id]) => id),
      String(readBytes),
    ).toEqual(['u1', 'u1', 'u2'])
    expect(source.warnings.length).toBe(1)
  }
})

test('in a file without a mark of its own, one before a value is part of it unless a quote follows', async () => {
  const content = `user_id,text_data\n${MARK}u1,one\n${MARK}"u2","two, 2"\n`
  for (const readBytes of [1, 21, 22, 24, 64 * 1024]) {
    const source = await readAnySource(writeSource(content, 'a.csv'), { readBytes })
    expect(source.cells, String(readBytes)).toEqual([
      [`${MARK}u1`, 'one'],
      ['u2', 'two, 2'],
    ])
  }
})

test.each([
  ['', '"two ""2"""', 'two "2"'],
  ['\\', '"two \\"2\\\\"', 'two "2\\'],
])(
  'a mark after a line break within quotes is content, also with the escape %j',
  async (_, written, meant) => {
    const content = `${MARK}id,text\n"line\n${MARK}in quotes","\r${MARK}"\nu2,${written}\n${MARK}u3,three\n`
    for (const readBytes of [1, 3, 40, 64 * 1024]) {
      const source = await readAnySource(writeSource(content, 'a.csv'), { readBytes })
      expect(source.cells, String(readBytes)).toEqual([
        [`line\n${MARK}in quotes`, `\r${MARK}`],
        ['u2', meant],
        ['u3', 'three'],
      ])
      expect(source.warnings.filter((text) => text.includes('byte-order mark'))).toEqual([
        '1: has a byte-order mark in front of it, as where files were appended; it is left out',
      ])
    }
  },
)
