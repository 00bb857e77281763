import { expect, test } from 'vitest'
import { previewSource } from '../../../../src/main/engine/intake/preview.ts'
import { writeSource } from './read-source.ts'

test('a preview holds the first rows and everything about how they were read', async () => {
  const path = writeSource(`id;text\n1;a\n2\n${'3;c\n'.repeat(1000)}`)
  const preview = await previewSource({ path, header: true }, 3)
  expect(preview).toEqual({
    columns: ['id', 'text'],
    rows: [
      { row: 1, cells: ['1', 'a'] },
      { row: 2, cells: ['2'] },
      { row: 3, cells: ['3', 'c'] },
    ],
    encoding: 'utf-8',
    encodingBy: 'strict',
    delimiter: ';',
    delimiterBy: 'guess',
    header: true,
    format: 'csv',
    problems: [
      {
        row: 2,
        severity: 'warning',
        code: 'ragged_row',
        message: 'must have 2 cells, as the header has',
        found: '1 cell',
      },
    ],
    sizeBytes: 4014,
  })
})

test('the same file re-reads with other choices', async () => {
  const path = writeSource('id;text\n1;a\n')
  expect(await previewSource({ path, header: false, delimiter: ',' }, 10)).toMatchObject({
    columns: ['Column 1'],
    rows: [{ cells: ['id;text'] }, { cells: ['1;a'] }],
    delimiterBy: 'given',
    header: false,
  })
})
