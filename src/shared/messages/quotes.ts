/** Characters that a message and a text must share before the message is taken to quote the text. */
const QUOTE_MIN = 8

/** Shortest text that is recognised where a message has all of it. */
const WHOLE_MIN = 4

/**
 * Takes out of messages what they quote of these texts: every part that one of them has too stands as `…`. Letters are
 * compared in either case.
 */
export function createQuoteRemover(texts: readonly string[]): (message: string) => string {
  const known = [...new Set(texts.map((text) => text.trim().toLowerCase()))].filter((text) => text !== '')
  const words = known.filter(({ length }) => length >= WHOLE_MIN && length < QUOTE_MIN)
  const long = known
    .filter(({ length }) => length >= QUOTE_MIN)
    .map((text) => ({ text, beginnings: listBeginnings(text) }))
  return (message) => {
    const lower = message.toLowerCase()
    // Letters whose other case is longer would shift every position behind them.
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

/** Every part of a text that a quote of it may begin with; none begins with a space. */
function listBeginnings(text: string): ReadonlySet<string> {
  const beginnings = new Set<string>()
  for (let at = 0; at + QUOTE_MIN <= text.length; at += 1) {
    if (!/\s/.test(text[at] ?? '')) beginnings.add(text.slice(at, at + QUOTE_MIN))
  }
  return beginnings
}

/** How many characters of a short text stand at a place of a message as a word of its own. */
function countWord(message: string, at: number, text: string): number {
  const isWord = !/[\p{L}\p{N}]/u.test(`${message[at - 1] ?? ''}${message[at + text.length] ?? ''}`)
  return isWord && message.startsWith(text, at) ? text.length : 0
}

/** The length of the longest part of a text that stands at a place of a message, where the first characters do. */
function countShared(message: string, at: number, text: string): number {
  let length = QUOTE_MIN
  let from = text.indexOf(message.slice(at, at + length))
  while (from >= 0 && at + length < message.length) {
    while (at + length < message.length && message[at + length] === text[from + length]) length += 1
    from = text.indexOf(message.slice(at, at + length + 1), from + 1)
  }
  return message.slice(at, at + length).trimEnd().length
}
