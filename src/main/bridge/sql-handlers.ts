import { SQL_SHOWN_ROWS, type SqlAnswer } from '../../shared/bridge/sql.ts'
import type { Handlers } from './bridge-context.ts'
import { placeRunExport } from './results-handlers.ts'
import { createExcerpts } from './sources.ts'

/** Longest time for a page's statement, milliseconds. */
const TIMEOUT_MS = 60_000

/** Most characters of an answer sent to a page; further rows are only counted. */
const CHARACTERS_MAX = 4_000_000

/** SQL queries on the rows of runs; a statement ends when its window stops waiting. */
export const sqlHandlers: Handlers<'sql'> = {
  ask: async ({ context: { engine }, input: { runIds, sql }, signal }) => {
    const answer: SqlAnswer = { columns: [], rows: [], total: 0 }
    let left = CHARACTERS_MAX
    answer.total = await engine.lookback.askSql(runIds, {
      sql,
      timeoutMs: TIMEOUT_MS,
      signal,
      async onRow(values, index) {
        if (index === 0) answer.columns = values.map(String)
        else if (answer.rows.length < SQL_SHOWN_ROWS && left > 0) {
          const row = values.map(toShown)
          left -= row.reduce<number>((sum, value) => sum + String(value).length, 0)
          answer.rows.push(row)
        }
      },
    })
    return answer
  },
  save: async ({ context, input: { runIds, sql, format, targetId }, signal }) => {
    const { engine } = context
    const [runId = ''] = runIds
    const place = await placeRunExport(context, { runId, format, targetId, title: 'sql ' })
    return place.publish(
      await engine.lookback.saveSql(runIds, { sql, timeoutMs: TIMEOUT_MS, signal }, place.file),
    )
  },
}

function toShown(value: unknown): string | number | null {
  if (value === null || typeof value === 'number') return value
  const text = String(value)
  const [excerpt = ''] = createExcerpts([text]).cells
  return excerpt.length < text.length ? `${excerpt}…` : text
}
