/**
 * A statement that reads the rows of the item `?1` in their order; `columns` begin with `row.id`. With `former` also those
 * that were sent with it, and that a correction made invalid or left out since; `join` then joins their `result`.
 */
export function selectItemRows(columns: string, { join = '', former = false } = {}): string {
  const own = former ? '(row.item = ?1 OR (row.item IS NULL AND attempts > 0))' : 'row.item = ?1'
  const selects = [
    `SELECT ${columns} FROM row ${join} WHERE row.id = ?1 AND ${own}`,
    `SELECT ${columns} FROM row INDEXED BY row_joined ${join} WHERE row.item = ?1 AND row.item <> row.id`,
  ]
  if (former) {
    selects.push(`SELECT ${columns} FROM row ${join} WHERE row.item IS NULL
      AND row.id IN (SELECT stood.row FROM earlier AS stood WHERE stood.sent_item = ?1)`)
  }
  return `${selects.join(' UNION ALL ')} ORDER BY 1`
}

/**
 * An expression for the item that a row was sent with, which a correction may have made invalid or left out since. `row` is
 * the table of the row, or what stands for it.
 */
export function selectSentItem(row: string, schema = 'main'): string {
  return `coalesce(${row}.item, (SELECT stood.sent_item FROM ${schema}.earlier AS stood WHERE stood.row = ${row}.id
    AND stood.sent_item IS NOT NULL ORDER BY stood.session DESC LIMIT 1), ${row}.id)`
}
