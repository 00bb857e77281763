import type { PassedOver } from '../mapping/match-columns.ts'
import type { UsedMapping } from '../run/used-mapping.ts'
import { quoteForShell } from '../shell-command.ts'

const HOW = { stated: '', name: ' (by its name)', guess: ' (guessed)', default: '' } as const

/** What filled each field, a phrase each, and the unsent columns. */
export function listUsedMapping({ fields, not_sent: left }: UsedMapping): string[] {
  const filled = fields.map(({ field, column, template, by }) =>
    column === undefined ? `${field}: \`${template ?? ''}\`` : `${field}: column \`${column}\`${HOW[by]}`,
  )
  if (left.length === 0) return filled
  const shown = left.slice(0, COLUMNS_SHOWN).map((name) => `\`${name}\``)
  const more = left.length - shown.length
  return [...filled, `not sent: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
}

const COLUMNS_SHOWN = 10

/** A content column that is not sent because a person chose another, and how to send it. */
export function sayPassedOver({ field, column, kept, source }: PassedOver): string {
  const filled = source.kind === 'column' ? `column \`${source.column}\`` : 'a text'
  const advice = ` If each row has one of the two, add --map ${quoteForShell(`${field}=${column}`)} as well.`
  return `Column \`${column}\` is not sent, because ${filled} fills ${kept}.${advice}`
}
