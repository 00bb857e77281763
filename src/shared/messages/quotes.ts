/** Fewest characters that a message must share with a text to count as quoting it. */
const QUOTE_MIN = 8

/** Shortest text that is recognised if a message has all of it. */
const WHOLE_MIN = 4

/** Returns a function that replaces quotes of these texts in a message by `…`, ignoring case. */
export function createQuoteRemover(texts: readonly string[]): (message: string) => string {
  const known = [...new Set(texts.map((text) => text.trim().toLowerCase()))].filter((text) => text !== '')
  const words = known.filter(({ length }) => length >= WHOLE_MIN && length < QUOTE_MIN)
  const long = known
    .filter(({ length }) => length >= QUOTE_MIN)
    .map((text) => ({ text, beginnings: listBeginnings(text) }))
  return (message) => {
    const lower = message.toLowerCase()
    // Letters that get longer in lower case would shift all later positions.
    if (lower.length !== message.length) return known.length > 0 ? '…' : message
    let kept = ''
    for (let at = 0; at < message.length; ) {
      let length = 0
      for (const word of words) length = Math.max(length, countWord(lower, at, word))
      const beginning = lower.slice(at, at + QUOTE_MIN)
      for (const { text, beginnings } of long) {
        if (beginnings.has(beginning)) length = Math.max(length, countShared(lower, at, text))
      }
      if (length === 0) kept += message[at]
      else if (!kept.endsWith('…')) kept += '…'
      at += Math.max(1, length)
    }
    return kept.toWellFormed()
  }
}

/** Every part of a text with which a quote of it may begin; none begins with a space. */
function listBeginnings(text: string): ReadonlySet<string> {
  const beginnings = new Set<string>()
  for (let at = 0; at + QUOTE_MIN <= text.length; at += 1) {
    if (!/\s/.test(text[at] ?? '')) beginnings.add(text.slice(at, at + QUOTE_MIN))
  }
  return beginnings
}

/** Length of a short text if it occurs at this position as a word of its own, else 0. */
function countWord(message: string, at: number, text: string): number {
  const isWord = !/[\p{L}\p{N}]/u.test(`${message[at - 1] ?? ''}${message[at + text.length] ?? ''}`)
  return isWord && message.startsWith(text, at) ? text.length : 0
}

/** The length of the longest part of a text at this place of a message, where its first characters match. */
function countShared(message: string, at: number, text: string): number {
  let length = QUOTE_MIN
  let from = text.indexOf(message.slice(at, at + length))
  while (from >= 0 && at + length < message.length) {
    while (at + length < message.length && message[at + length] === text[from + length]) length += 1
    from = text.indexOf(message.slice(at, at + length + 1), from + 1)
  }
  return message.slice(at, at + length).trimEnd().length
}
