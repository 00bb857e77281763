/** Texts joined by `; `; a list that holds anything else as JSON, and nothing for an empty one. */
export function toListText(list: readonly unknown[] | undefined): string {
  if (list === undefined || list.length === 0) return ''
  return list.every((item) => typeof item === 'string') ? joinTexts(list) : JSON.stringify(list)
}

/** Texts joined by `; `, as JSON if one of them has a `;`, is empty, or begins as JSON does: what was joined can be told. */
export function joinTexts(texts: readonly string[]): string {
  return texts.some((text) => text === '' || text.includes(';') || text.startsWith('['))
    ? JSON.stringify(texts)
    : texts.join('; ')
}
