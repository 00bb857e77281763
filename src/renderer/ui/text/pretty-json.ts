/**
 * JSON text with two-space indents for reading, its values as they were: numbers keep every digit, since they are not
 * parsed. Anything that is not JSON comes back as it is.
 */
export function prettyJson(text: string): string {
  if (!isJson(text)) return text
  let indent = 0
  let output = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    if (token === '{' || token === '[') {
      indent += 1
      output += `${token}\n${'  '.repeat(indent)}`
    } else if (token === '}' || token === ']') {
      indent -= 1
      output = output.trimEnd()
      output += output.endsWith('{') || output.endsWith('[') ? token : `\n${'  '.repeat(indent)}${token}`
    } else if (token === ',') output += `,\n${'  '.repeat(indent)}`
    else if (token === ':') output += ': '
    else output += token
  }
  return output
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
