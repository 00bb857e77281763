/** A run of ordinary text, or one invisible character, with the glyph that stands for it. */
export type TextPiece =
  | { kind: 'plain'; text: string }
  | { kind: 'mark'; glyph: string; name: string; times: number }

/** Length of a table cell's text before "show all", in UTF-16 code units. */
export const CELL_MAX_CHARACTERS = 240

// Controls, format characters (bidi marks, joiners, tags), separators, lone surrogates, fillers, selectors.
const UNSEEN = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}|\p{Default_Ignorable_Code_Point}/gu

const NAMES: Record<number, [glyph: string, name: string]> = {
  9: ['⇥', 'tab'],
  10: ['↵', 'line feed'],
  13: ['CR', 'carriage return'],
  173: ['SHY', 'soft hyphen'],
  1564: ['ALM', 'Arabic letter mark'],
  8203: ['ZWSP', 'zero-width space'],
  8204: ['ZWNJ', 'zero-width non-joiner'],
  8205: ['ZWJ', 'zero-width joiner'],
  8206: ['LRM', 'left-to-right mark'],
  8207: ['RLM', 'right-to-left mark'],
  8232: ['LS', 'line separator'],
  8233: ['PS', 'paragraph separator'],
  8234: ['LRE', 'left-to-right embedding'],
  8235: ['RLE', 'right-to-left embedding'],
  8236: ['PDF', 'pop directional formatting'],
  8237: ['LRO', 'left-to-right override'],
  8238: ['RLO', 'right-to-left override'],
  8288: ['WJ', 'word joiner'],
  8294: ['LRI', 'left-to-right isolate'],
  8295: ['RLI', 'right-to-left isolate'],
  8296: ['FSI', 'first strong isolate'],
  8297: ['PDI', 'pop directional isolate'],
  65279: ['BOM', 'byte-order mark'],
}

const C0_NAMES =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  )

/**
 * Splits text so that nothing in it is hidden: invisible characters become named marks, and repeats are
 * counted. An emoji keeps the joiners and variation selectors that it needs. With `lines`, line breaks and
 * tabs are unchanged.
 */
export function toTextPieces(text: string, options: { lines: boolean }): TextPiece[] {
  const pieces: TextPiece[] = []
  let from = 0
  for (const match of text.matchAll(UNSEEN)) {
    const code = match[0].codePointAt(0) ?? 0
    if (options.lines && (code === 0x0a || code === 0x09)) continue
    if (isPartOfEmoji(text, match.index, code)) continue
    if (match.index > from) pieces.push({ kind: 'plain', text: text.slice(from, match.index) })
    from = match.index + match[0].length
    pushMark(pieces, code)
  }
  if (from < text.length) pieces.push({ kind: 'plain', text: text.slice(from) })
  return pieces
}

function pushMark(pieces: TextPiece[], code: number): void {
  const [glyph, name] = describe(code)
  const last = pieces.at(-1)
  if (last?.kind === 'mark' && last.glyph === glyph) last.times += 1
  else pieces.push({ kind: 'mark', glyph, name, times: 1 })
}

function describe(code: number): [glyph: string, name: string] {
  const known = NAMES[code]
  if (known) return known
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  const control = C0_NAMES[code]
  if (control !== undefined) return [control, `control character ${hex}`]
  if (code === 0x7f) return ['DEL', 'delete']
  if (code >= 0xd800 && code <= 0xdfff) return [hex, 'half of a broken character']
  return [hex, 'invisible character']
}

const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|[#*0-9]/u

function isPartOfEmoji(text: string, index: number, code: number): boolean {
  if (code !== 0x200d && code !== 0xfe0f && code !== 0xfe0e) return false
  const before = codePointBefore(text, index)
  if (before === '' || !PICTOGRAPH.test(before)) return false
  if (code !== 0x200d) return true
  const after = text.codePointAt(index + 1)
  return after !== undefined && /\p{Extended_Pictographic}/u.test(String.fromCodePoint(after))
}

function codePointBefore(text: string, index: number): string {
  if (index === 0) return ''
  const low = text.charCodeAt(index - 1)
  const paired = low >= 0xdc00 && low <= 0xdfff && index > 1
  return text.slice(paired ? index - 2 : index - 1, index)
}

/** Cuts text to at most `max` code units, never inside a character; `left` is the length that was cut off. */
export function cutText(text: string, max: number): { shown: string; left: number } {
  if (text.length <= max) return { shown: text, left: 0 }
  const last = text.charCodeAt(max - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? max - 1 : max
  return { shown: text.slice(0, end), left: text.length - end }
}

/** Room for the words about the rest, in code units. */
const TOLD_CHARACTERS = '… 10 more characters'.length

/** Cuts text like {@link cutText}, unless the words about the rest would be about as long as the rest. */
export function cutToldText(text: string, max: number): { shown: string; left: number } {
  return cutText(text, text.length <= max + TOLD_CHARACTERS ? text.length : max)
}
