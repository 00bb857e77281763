/**
 * JSON text with two-space indents for reading. Nothing is parsed, so numbers keep every digit and duplicate
 * members stay. Anything that is not JSON is returned unchanged.
 */
export function prettyJson(text: string): string {
  if (!isJson(text)) return text
  const pieces: string[] = []
  let indent = 0
  let isEmpty = false
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    const isEnd = token === '}' || token === ']'
    if (isEnd) indent -= 1
    if ((isEnd && !isEmpty) || (!isEnd && isEmpty)) pieces.push(toLine(indent))
    isEmpty = token === '{' || token === '['
    if (isEmpty) indent += 1
    if (token === ',') pieces.push(',', toLine(indent))
    else pieces.push(token === ':' ? ': ' : token)
  }
  return pieces.join('')
}

/** Deeper levels are not indented more: a text of only brackets would grow by the square of its length. */
const INDENT_MAX = 50

function toLine(indent: number): string {
  return `\n${'  '.repeat(Math.min(indent, INDENT_MAX))}`
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
