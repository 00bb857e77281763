/**
 * What ends a line. `\n` serves CRLF as well, and files that mix both: the record parser takes the `\r` off. A lone
 * `\r` is taken for a line end only where the sample has no other outside quotes, as old Macintosh programs wrote.
 */
export function chooseNewline(sampleText: string): '\n' | '\r' {
  if (!sampleText.includes('\r')) return '\n'
  let inQuotes = false
  let hasLoneReturn = false
  for (let index = 0; index < sampleText.length; index += 1) {
    const character = sampleText.charCodeAt(index)
    if (character === 0x22) inQuotes = !inQuotes
    else if (inQuotes) continue
    else if (character === 0x0a) return '\n'
    else if (character === 0x0d) hasLoneReturn = true
  }
  return hasLoneReturn ? '\r' : '\n'
}
