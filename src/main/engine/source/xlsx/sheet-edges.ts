import type { Archive } from './archive.ts'
import { createLimitError, formatCount } from './archive.ts'
import { type CellRange, parseRange } from './cell-ranges.ts'
import { createXmlParser } from './parse-xml.ts'
import { MAX_SHEET_ELEMENTS, MAX_SHEET_PART_BYTES } from './sheet-collector.ts'
import type { LinkRange } from './sheet-links.ts'
import { CannotSkim, skipCells } from './skip-cells.ts'
import { findRelationId, readLinkTargets } from './workbook.ts'

/** What follows the cells in a sheet's part. */
export interface SheetEdges {
  merged: readonly CellRange[]
  /** Cells with a link out of the workbook. */
  links: readonly LinkRange[]
  /** Whether cells may have formulas that make links. */
  hasLinkFormulas: boolean
  /** Why not everything could be read; null if it was. Reading the rows reports what they miss. */
  failure: unknown
}

const PART = {
  name: 'the sheet',
  maxElements: MAX_SHEET_ELEMENTS,
  shape: { worksheet: { mergeCells: { mergeCell: {} }, hyperlinks: { hyperlink: {} } } },
}

/** Most merged cells and links of a sheet. */
const MAX_RANGES = 1_000_000

/** Reads what follows the cells of a sheet, skipping the cells if possible. */
export async function readSheetEdges(archive: Archive, part: string): Promise<SheetEdges> {
  try {
    return await parseEdges(archive, part, true)
  } catch (error) {
    if (!(error instanceof CannotSkim)) throw error
    return parseEdges(archive, part, false)
  }
}

async function parseEdges(archive: Archive, part: string, isSkimmed: boolean): Promise<SheetEdges> {
  const merged: CellRange[] = []
  const found: FoundLink[] = []
  let hasLinkFormulas = !isSkimmed
  let failure: unknown = null
  try {
    const parser = createXmlParser(archive.path, PART, {
      open(name, attributes, toNamespace) {
        const range = parseRange(attributes['ref'] ?? '')
        if (range === null) return
        if (merged.length + found.length === MAX_RANGES) throw createRangesError(archive.path)
        if (name === 'mergeCell') merged.push(range)
        const id = name === 'hyperlink' ? findRelationId(attributes, toNamespace) : ''
        if (id !== '') found.push({ range, id, location: attributes['location'] ?? '' })
      },
    })
    const pieces = archive.readPart(part, MAX_SHEET_PART_BYTES)
    const noteCells = (cells: Buffer): void => {
      hasLinkFormulas ||= LINK_FORMULAS.some((name) => cells.includes(name))
    }
    for await (const piece of isSkimmed ? skipCells(pieces, noteCells) : pieces) parser.write(piece)
    parser.end()
  } catch (error) {
    if (error instanceof CannotSkim) throw error
    failure = error
  }
  const targets = found.length === 0 ? null : await readLinkTargets(archive, part)
  const links = found.flatMap(({ range, id, location }) => {
    const target = targets?.get(id)
    return target === undefined
      ? []
      : [{ ...range, address: target + (location === '' ? '' : `#${location}`) }]
  })
  return { merged, links, hasLinkFormulas, failure }
}

/** A link as in a sheet: its relation, and a place in its target. */
interface FoundLink {
  range: CellRange
  id: string
  location: string
}

/** Contained in any formula that makes a link, however it is written. */
const LINK_FORMULAS = ['YPERLINK', 'yperlink']

function createRangesError(path: string): Error {
  return createLimitError(path, `the sheet has more than ${formatCount(MAX_RANGES)} merged cells and links`)
}
