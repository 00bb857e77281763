import type { ReadText } from '../decoding/text-reader.ts'

/** A text without the NUL characters behind its end, which only fill a file up. */
export interface UnpaddedText {
  readText: ReadText
  /** NUL characters that were left out; complete once the text is at its end. */
  padding(): number
  /** Whether any were held back so far: then what was read last need not be what was given last. */
  wasHeld(): boolean
}

const ZEROS = '\0'.repeat(64 * 1024)

/** Leaves out NUL characters at the end of a text. They are held back as a number until it is known that text follows. */
export function dropZeroPadding(readText: ReadText): UnpaddedText {
  let held = 0
  let wasHeld = false
  let behind = ''
  return {
    readText(sizeBytes) {
      if (behind === '') {
        const piece = readText(sizeBytes)
        if (piece === null) return null
        const end = findTextEnd(piece)
        if (end === 0 || held === 0) {
          held += piece.length - end
          wasHeld ||= held > 0
          return piece.slice(0, end)
        }
        behind = piece
      }
      if (held > 0) {
        const zeros = ZEROS.slice(0, held)
        held -= zeros.length
        return zeros
      }
      const end = findTextEnd(behind)
      const text = behind.slice(0, end)
      held = behind.length - end
      wasHeld = true
      behind = ''
      return text
    },
    padding: () => held,
    wasHeld: () => wasHeld,
  }
}

/** Where the text ends and NUL characters begin. */
function findTextEnd(piece: string): number {
  let end = piece.length
  while (end > 0 && piece.charCodeAt(end - 1) === 0) end -= 1
  return end
}
