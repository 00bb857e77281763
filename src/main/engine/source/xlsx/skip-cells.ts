/** Thrown if a part cannot be skimmed: it is in UTF-16, or has comments, which may contain anything. */
export class CannotSkim extends Error {}

/** Most bytes held before the cells. */
const MAX_HEAD_BYTES = 16 * 1024 * 1024

const OPENING = /<((?:[\w.-]+:)?)sheetData(?=[\s/>])[^>]*>/

/**
 * The bytes of a sheet's part without its cells, about thirty times as fast as parsing them: what follows the
 * cells is needed before the first of them. `onCells` gets their bytes for searching; each piece begins with
 * the end of the one before. Throws {@link CannotSkim}; then the part must be parsed.
 */
export async function* skipCells(
  pieces: AsyncIterable<Buffer>,
  onCells: (piece: Buffer) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let head: Buffer = Buffer.alloc(0)
  let end: string | null = null
  let kept: Buffer = Buffer.alloc(0)
  let isBehind = false
  for await (const piece of pieces) {
    if (isBehind) {
      yield piece
      continue
    }
    let cells = piece
    if (end === null) {
      head = Buffer.concat([head, piece])
      const found = findOpening(head)
      if (found === null) continue
      const { prefix, at } = found
      yield head.subarray(0, at)
      if (head[at - 2] === 0x2f) {
        isBehind = true
        yield head.subarray(at)
        continue
      }
      end = `</${prefix}sheetData`
      cells = head.subarray(at)
    }
    const window = kept.length === 0 ? cells : Buffer.concat([kept, cells])
    const at = window.indexOf(end)
    const inside = at === -1 ? window : window.subarray(0, at)
    if (inside.includes('<!')) throw new CannotSkim()
    onCells(inside)
    if (at === -1) {
      kept = window.subarray(Math.max(0, window.length - Math.max(KEPT_BYTES, end.length)))
    } else {
      isBehind = true
      yield window.subarray(at)
    }
  }
}

/** Bytes of a piece examined again with the next one. */
const KEPT_BYTES = 16

function findOpening(head: Buffer): { prefix: string; at: number } | null {
  if (head.subarray(0, 4).includes(0) || head[0] === 0xfe || head[0] === 0xff) throw new CannotSkim()
  const text = head.toString('latin1')
  const [opening, prefix = ''] = OPENING.exec(text) ?? []
  if (opening === undefined) {
    if (head.length > MAX_HEAD_BYTES) throw new CannotSkim()
    return null
  }
  const at = text.indexOf(opening)
  if (text.lastIndexOf('<!', at) !== -1) throw new CannotSkim()
  return { prefix, at: at + opening.length }
}
