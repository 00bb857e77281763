import { describe, expect, it } from 'vitest'
import {
  cutText,
  cutToldText,
  type TextPiece,
  toTextPieces,
} from '../../src/renderer/ui/text/visible-text.ts'

function toPlain(pieces: TextPiece[]): string {
  return pieces
    .map((piece) =>
      piece.kind === 'plain' ? piece.text : `[${piece.glyph}${piece.times > 1 ? piece.times : ''}]`,
    )
    .join('')
}

describe('text that somebody else wrote', () => {
  it.each([
    ['ordinary text as it is', 'Grüße, 你好, שלום', 'Grüße, 你好, שלום'],
    ['HTML as it is', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['a right-to-left override', 'gpj.\u202Eexe', 'gpj.[RLO]exe'],
    ['zero-width characters, repeats counted', 'a\u200B\u200B\u200Bb', 'a[ZWSP3]b'],
    ['a byte-order mark', '\uFEFFid', '[BOM]id'],
    ['control characters', 'a\u0000\u001Bb', 'a[NUL][ESC]b'],
    ['tabs and line breaks', 'a\tb\r\nc', 'a[⇥]b[CR][↵]c'],
    ['half of a surrogate pair', 'a\uD83Db', 'a[U+D83D]b'],
    ['tag characters', 'a\u{E0041}b', 'a[U+E0041]b'],
    ['fillers', 'a\u3164b', 'a[U+3164]b'],
    ['an emoji with its joiners', '👩‍👩‍👧 ❤️ 1️⃣', '👩‍👩‍👧 ❤️ 1️⃣'],
    ['a joiner that joins nothing', 'pass\u200Dword', 'pass[ZWJ]word'],
  ])('shows %s', (_what, text, shown) => {
    expect(toPlain(toTextPieces(text, { lines: false }))).toBe(shown)
  })

  it('keeps line breaks and tabs on request, and marks the rest', () => {
    expect(toPlain(toTextPieces('a\n\tb\r\u200Bc', { lines: true }))).toBe('a\n\tb[CR][ZWSP]c')
  })

  it('loses no character: the plain pieces and the marks add up to the text', () => {
    const text = 'x\u202E\u202E<b>\u0000y👩‍👧z\uD83D'
    const length = toTextPieces(text, { lines: false }).reduce(
      (sum, piece) => sum + (piece.kind === 'plain' ? piece.text.length : piece.times),
      0,
    )
    expect(length).toBe(text.length)
  })

  it('takes a megabyte of zero-width characters as one mark', () => {
    const pieces = toTextPieces('\u200B'.repeat(1_000_000), { lines: false })
    expect(pieces).toEqual([{ kind: 'mark', glyph: 'ZWSP', name: 'zero-width space', times: 1_000_000 }])
  })
})

describe('cutting a text', () => {
  it('leaves a short one alone', () => {
    expect(cutText('abc', 3)).toEqual({ shown: 'abc', left: 0 })
  })

  it('never cuts inside a character', () => {
    expect(cutText('ab😀cd', 3)).toEqual({ shown: 'ab', left: 4 })
    expect(cutText('ab😀cd', 4)).toEqual({ shown: 'ab😀', left: 2 })
  })

  it('keeps a text whole if the note about the rest would take as much room', () => {
    const name = 'a-long-name-of-a-file.jsonl'
    expect(cutToldText(name, name.length - 4)).toEqual({ shown: name, left: 0 })
    expect(cutToldText(name, 4)).toEqual({ shown: 'a-lo', left: 23 })
  })
})
