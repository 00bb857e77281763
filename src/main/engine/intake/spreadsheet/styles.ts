import type { Archive } from './archive.ts'
import { findBuiltInFormat } from './number-formats.ts'
import { createNumberText, type ToNumberText } from './number-text.ts'
import { parseXmlPart } from './parse-xml.ts'

/** How the numbers of a workbook's cells are shown, by the number of a cell's style. */
export interface Styles {
  toNumberText(style: number): ToNumberText
}

const MAX_PART_BYTES = 128 * 1024 * 1024

/** Reads the number formats of a workbook's styles; `part` is null where it has none. Throws `BAD_SOURCE`. */
export async function readStyles(archive: Archive, part: string | null, is1904: boolean): Promise<Styles> {
  const codes = new Map<number, string>()
  const formats: number[] = []
  let isInCells = false
  if (part !== null) {
    await parseXmlPart(archive.path, 'the part of styles', archive.readPart(part, MAX_PART_BYTES), {
      open(name, attributes) {
        if (name === 'numFmt') codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
        else if (name === 'cellXfs') isInCells = true
        else if (name === 'xf' && isInCells) formats.push(Number(attributes['numFmtId'] ?? 0))
      },
      close(name) {
        if (name === 'cellXfs') isInCells = false
      },
    })
  }
  const texts = new Map<number, ToNumberText>()
  return {
    toNumberText(style) {
      const id = formats[style] ?? 0
      let toText = texts.get(id)
      if (toText === undefined) {
        toText = createNumberText(codes.get(id) ?? findBuiltInFormat(id), is1904)
        texts.set(id, toText)
      }
      return toText
    },
  }
}
