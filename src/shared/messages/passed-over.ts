import type { PassedOver } from '../mapping/match-columns.ts'

/** A column of content that is not sent because a person stated another, and how to send it. */
export function sayPassedOver({ field, column, kept, source }: PassedOver): string {
  const filled = source.kind === 'column' ? `column \`${source.column}\`` : 'a text'
  const advice = ` If each row has one of the two, add --map ${field}=${column} as well.`
  return `Column \`${column}\` is not sent, because ${filled} fills ${kept}.${advice}`
}
