import { type Archive, createLimitError, formatCount } from './archive.ts'
import { findBuiltInFormat } from './number-formats.ts'
import { createNumberText, type ToNumberText } from './number-text.ts'
import { parseXmlPart } from './parse-xml.ts'

/** How the numbers of a workbook's cells are shown, by the number of a cell's style. */
export interface Styles {
  toNumberText(style: number): ToNumberText
}

const MAX_PART_BYTES = 128 * 1024 * 1024
/** A workbook may have 65,490 cell formats and about 250 number formats of at most 255 characters. */
const PART = { name: 'the part of styles', maxElements: 500_000 }
const MAX_NUMBER_FORMATS = 10_000
const MAX_FORMAT_CHARACTERS = 4096

/** Reads the number formats of a workbook's styles; `part` is null where it has none. Throws `BAD_SOURCE`. */
export async function readStyles(archive: Archive, part: string | null, is1904: boolean): Promise<Styles> {
  const codes = new Map<number, string>()
  const formats: number[] = []
  let isInCells = false
  const addFormat = (id: number, code: string): void => {
    const limit =
      codes.size === MAX_NUMBER_FORMATS
        ? `more than ${formatCount(MAX_NUMBER_FORMATS)} number formats`
        : code.length > MAX_FORMAT_CHARACTERS
          ? `a number format of more than ${formatCount(MAX_FORMAT_CHARACTERS)} characters`
          : null
    if (limit !== null) throw createLimitError(archive.path, `${PART.name} has ${limit}`)
    codes.set(id, code)
  }
  if (part !== null) {
    await parseXmlPart(archive.path, PART, archive.readPart(part, MAX_PART_BYTES), {
      open(name, attributes) {
        if (name === 'numFmt') addFormat(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
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
