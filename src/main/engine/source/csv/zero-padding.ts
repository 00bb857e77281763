import type { ReadText } from '../decoding/text-reader.ts'

/** A text without the NUL characters after its end, which only pad a file. */
export interface UnpaddedText {
  readText: ReadText
  /** Number of NUL characters left out; final once the text has ended. */
  padding(): number
  /** Whether any were held back so far: then the last read may differ from what was last returned. */
  wasHeld(): boolean
}

const ZEROS = '\0'.repeat(64 * 1024)

/** Leaves out NUL characters at the end of a text. They are held back as a count until text follows. */
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
