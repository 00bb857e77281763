/**
 * An SQL statement that reads the rows of item `?1` in order; `columns` must begin with `row.id`. `former`
 * adds rows that were sent with the item and that a correction has since made invalid or left out; `join`
 * then joins their `result`.
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
 * An SQL expression for the item a row was sent with, even if a correction has since made the row invalid or
 * left it out. `row` is the row's table or its alias.
 */
export function selectSentItem(row: string, schema = 'main'): string {
  return `coalesce(${row}.item, (SELECT stood.sent_item FROM ${schema}.earlier AS stood WHERE stood.row = ${row}.id
    AND stood.sent_item IS NOT NULL ORDER BY stood.session DESC LIMIT 1), ${row}.id)`
}
