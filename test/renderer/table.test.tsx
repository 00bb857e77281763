import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { type Column, FactTable, Table } from '../../src/renderer/ui/table/table.tsx'

interface Fruit {
  name: string
  count: number
}

const FRUITS: Fruit[] = [
  { name: 'apple', count: 3 },
  { name: 'pear', count: 5 },
]

const COLUMNS: Column<Fruit>[] = [
  { title: 'Fruit', cell: ({ name }) => name },
  { title: 'Count', isNumber: true, cell: ({ count }) => count },
]

/** The elements and texts of a table, without classes. */
function draw(table: React.ReactNode): string {
  return renderToStaticMarkup(table).replaceAll(/ class="[^"]*"/g, '')
}

it('names each row by its first column, unless another column or none does', () => {
  const [fruit, count] = COLUMNS
  if (fruit === undefined || count === undefined) throw new Error('no columns')
  expect(draw(<Table columns={COLUMNS} rows={FRUITS} />)).toContain('<th scope="row">apple</th><td>3</td>')
  expect(draw(<Table columns={[fruit, { ...count, isRowHead: true }]} rows={FRUITS} />)).toContain(
    '<td>apple</td><th scope="row">3</th>',
  )
  expect(draw(<Table columns={[{ ...fruit, isRowHead: false }, count]} rows={FRUITS} />)).toContain(
    '<td>apple</td><td>3</td>',
  )
})

it('says which column the rows are sorted by, and gives no header to a column without a title', () => {
  const columns: Column<Fruit>[] = [
    { cell: () => '' },
    { title: 'Fruit', sort: { sorted: 'descending', onSort: () => {} }, cell: ({ name }) => name },
  ]
  const head = draw(<Table columns={columns} rows={FRUITS} />).split('<tbody>')[0]
  expect(head).toContain('<td></td><th scope="col" aria-sort="descending"><button type="button">Fruit')
})

it("omits a cell that another spans, and puts a row's details below it", () => {
  const columns: Column<Fruit>[] = [
    { title: 'Fruit', toCell: (_, index) => (index === 0 ? { rowSpan: 2 } : null), cell: () => 'all' },
    { title: 'Count', cell: ({ count }) => count },
  ]
  const drawn = draw(
    <Table columns={columns} rows={FRUITS} below={({ name }) => (name === 'pear' ? 'soft' : null)} />,
  )
  expect(drawn).toContain(
    '<tr><th scope="row" rowSpan="2">all</th><td>3</td></tr><tr><td>5</td></tr><tr><td colSpan="2">soft</td></tr>',
  )
})

it('shows a message instead of a table without rows, and omits facts that are missing', () => {
  expect(draw(<Table columns={COLUMNS} rows={[]} empty="No fruit." />)).toBe('<p>No fruit.</p>')
  expect(draw(<FactTable caption="Facts" facts={[['Taste', 'sweet'], false, null]} />)).toBe(
    '<table><caption>Facts</caption><tbody><tr><th scope="row">Taste</th><td>sweet</td></tr></tbody></table>',
  )
})
