import { nameLinkColumn } from '../../../../shared/mapping/link-columns.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { findGuard, isExportHeader, toOwnExport } from '../../../../shared/run/export-columns.ts'
import { removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { HeaderWatch, mayDoubtHeader } from '../header-doubt.ts'
import { findTitleWarnings } from '../likely-header.ts'
import { createRepeatedHeaderCheck } from '../repeated-header.ts'
import { openSourceFile } from '../source-file.ts'
import {
  findEmptyWarnings,
  PlaceNotes,
  type SourceBatch,
  type SourceReader,
  type SourceRow,
  toColumnNames,
} from '../source-reader.ts'
import { type Archive, openArchive, refuseForeignArchive, refuseForeignFile } from './archive.ts'
import { findLikelySheet } from './likely-sheet.ts'
import { appendLinks, surveyLinks, toLinkWarnings } from './linked-columns.ts'
import { fillHeader, type Marks, markRows } from './marked-rows.ts'
import { findOtherSheets } from './other-sheets.ts'
import { parseXmlPart } from './parse-xml.ts'
import { openSharedStrings, type SharedStrings } from './shared-strings.ts'
import { nameColumns } from './sheet-collector.ts'
import { readSheetEdges, type SheetEdges } from './sheet-edges.ts'
import { countFilled, readSheetHead, type SheetHead } from './sheet-head.ts'
import { isWebAddress } from './sheet-links.ts'
import { readSheetRows, type TextRow, toSourceRow } from './sheet-rows.ts'
import { type IsTotalsRow, readTotalsRows } from './totals-rows.ts'
import { chooseSheet, readStyles, readWorkbook } from './workbook.ts'

/** Most cells of all rows, including empty ones; a few far corners would otherwise fill a disk. */
const MAX_CELLS = 200_000_000

/**
 * Opens a sheet of an Excel workbook (.xlsx, .xlsm): every cell is the text that a person sees, formulas
 * their last value. The header is the first row that is not empty, or the spreadsheet row `headerRow`.
 *
 * Rows: an empty row between others is a row of empty cells, trailing empty ones are not rows; hidden rows
 * and columns are read and reported, hidden rows unless only visible ones are wanted; of merged cells only
 * the first has the text, unless all should have it, and rows with empty ones are reported. A formula that
 * was never calculated is a warning, and so is a whole number with more digits than a spreadsheet keeps.
 *
 * Throws `BAD_SOURCE` for what is not such a workbook, or is damaged, encrypted or malicious, for a missing
 * sheet, and without a row, except in a preview, where another sheet can still be chosen; while reading, for
 * damage further on.
 */
export async function openSpreadsheetSource(
  source: PlanSource,
  { isPreview = false, contentPath = source.path }: { isPreview?: boolean; contentPath?: string } = {},
): Promise<SourceReader> {
  const file = openSourceFile(source.path, contentPath)
  try {
    refuseForeignFile(file)
    const archive = await openArchive(file)
    refuseForeignArchive(archive)
    return await createReader(source, archive, file.sizeBytes, isPreview)
  } catch (error) {
    file.close()
    throw error
  }
}

async function createReader(
  source: PlanSource,
  archive: Archive,
  sizeBytes: number,
  isPreview: boolean,
): Promise<SourceReader> {
  const { path } = source
  const workbook = await readWorkbook(archive)
  const styles = await readStyles(archive, workbook.styles, workbook.is1904)
  const strings: SharedStrings = openSharedStrings(archive, workbook.sharedStrings)
  const openPart = (part: string) => readSheetRows(archive, part, styles, strings)
  const hasChoice = workbook.sheets.length > 1 && (source.sheet === undefined || isPreview)
  let head: SheetHead
  let likely: Awaited<ReturnType<typeof findLikelySheet>> | null = null
  let chosen: ReturnType<typeof chooseSheet>
  let others: readonly SourceWarning[] = []
  try {
    likely = hasChoice ? await findLikelySheet(workbook.sheets, source, openPart, isPreview) : null
    chosen = chooseSheet(path, workbook.sheets, source.sheet ?? likely?.sheet ?? undefined)
    head = await readSheetHead(source, chosen.name, openPart(chosen.part), isPreview)
    if (hasChoice && !isPreview)
      others = await findOtherSheets(workbook.sheets, { name: chosen.name, head }, source, openPart)
  } catch (error) {
    strings.close()
    throw error
  }
  const { name, part } = chosen
  const { width, firstRow } = head
  const guard = isExportHeader(head.header) && !(await isOwnExport(archive)) ? findGuard(head.header) : null
  const isRead = ({ number, isHidden, cells }: TextRow) =>
    number >= firstRow && !(isHidden && source.rows === 'visible') && countFilled(cells) > 0
  const reading = { fills: source.merged === 'fill', firstRow, width, isTold: source.merged !== 'empty' }
  const openRows = () => markRows(path, openPart(part), edges, reading)
  let edges: Marks
  let named = head.header
  let merged: readonly string[] = []
  let links: Awaited<ReturnType<typeof surveyLinks>> = { linked: [], width }
  let isTotalsRow: IsTotalsRow
  try {
    isTotalsRow = await readTotalsRows(archive, part)
    const found = await readEdges(archive, part, source, isPreview)
    edges = found
    if (source.merged === 'fill' || (!isPreview && hasMergedHeading(head, edges)))
      merged = await fillHeader(path, head, openPart(part), edges)
    if (source.merged === 'fill') named = [...merged]
    if (found.hasLinkFormulas || found.links.some(({ address }) => isWebAddress(address)))
      links = await surveyLinks(openRows(), isRead, isPreview)
  } catch (error) {
    strings.close()
    throw error
  }
  const header = guard === null ? named : named.map((one) => removeFormulaGuard(one, guard))
  let own = toColumnNames(header, Math.max(width, links.width))
  const headings = new Map(
    merged.flatMap((heading, column) => {
      const isOwn = heading === '' || (header[column] ?? '') !== ''
      return isOwn ? [] : [[own[column] ?? '', heading] as const]
    }),
  )
  const linkNames = toColumnNames([
    ...own,
    ...links.linked.map(({ column }) => nameLinkColumn(own[column] ?? '')),
  ])
  const linked = links.linked.map((one, index) => ({
    ...one,
    name: own[one.column] ?? '',
    linkName: linkNames[own.length + index] ?? '',
  }))
  let kept = linked
  let isChosen = false

  let hiddenRows = 0
  let emptyRows = 0
  const findRepeatedHeader = source.header ? createRepeatedHeaderCheck(header) : null
  const watchHeader = () => new HeaderWatch(header, mayDoubtHeader(source, head.likelyHeaderRow))
  let headerWatch = watchHeader()
  async function* batches(): AsyncGenerator<SourceBatch, void, undefined> {
    let row = 0
    let cells = 0
    hiddenRows = 0
    const places = new PlaceNotes()
    // The file omits empty rows, or has them without cells.
    let next = firstRow
    let leftOut = 0
    emptyRows = 0
    headerWatch = watchHeader()
    for await (const { rows, share } of openRows()) {
      const bytesRead = Math.min(sizeBytes, Math.round(share * sizeBytes))
      const batch: SourceRow[] = []
      for (const { row: sheetRow, links: rowLinks, problems } of rows) {
        const { number, isHidden } = sheetRow
        if (number < firstRow) continue
        const filled = countFilled(sheetRow.cells)
        if (isHidden && filled > 0) hiddenRows += 1
        if (isHidden && source.rows === 'visible') leftOut += 1
        else if (filled > 0) {
          emptyRows += number - next - leftOut
          next = number + 1
          row += 1
          places.note(row, number, null, leftOut)
          leftOut = 0
          if (filled > own.length) own = toColumnNames(header, filled)
          headerWatch.note(sheetRow.cells)
          const read = toSourceRow(row, sheetRow, filled, { width, guard })
          if (isHidden && source.rows === undefined)
            read.problems.push({ row, severity: 'warning', code: 'hidden_rows' })
          for (const problem of problems) read.problems.push({ ...problem, row })
          if (isTotalsRow(sheetRow)) read.problems.push({ row, severity: 'error', code: 'totals_row' })
          const repeated = findRepeatedHeader?.(row, read.cells)
          if (repeated != null) read.problems.push(repeated)
          if (kept.length > 0) appendLinks(read, rowLinks, kept, own.length)
          batch.push(read)
          cells += Math.max(filled, width)
          if (cells > MAX_CELLS) throw new SluiceError({ id: 'workbook_too_empty', source: path })
        }
      }
      if (batch.length > 0) yield { rows: batch, places: places.take(), bytesRead }
    }
  }

  const findWarnings = (): SourceWarning[] => {
    const columnsHidden = nameColumns(head.hiddenColumns, own.length)
    return [
      ...findEmptyWarnings(emptyRows),
      ...findTitleWarnings(head.likelyHeaderRow),
      ...others,
      ...headerWatch.findWarnings(),
      ...toLinkWarnings(linked.filter((one) => !kept.includes(one))),
      ...(columnsHidden === ''
        ? []
        : [{ severity: 'warning', code: 'hidden_columns', args: { columns: columnsHidden } } as const]),
    ]
  }

  return {
    format: 'xlsx',
    get columns() {
      return [...own, ...kept.map(({ linkName }) => linkName)]
    },
    get nestedColumns() {
      return kept.map(({ linkName }) => linkName)
    },
    keepNested(names) {
      isChosen = true
      kept = linked.filter(({ linkName }) => names.includes(linkName))
    },
    links: linked,
    headings,
    describe: () => (isChosen && kept.length > 0 ? { links: kept.map(({ name }) => name) } : {}),
    header: source.header ? header : null,
    likelyHeaderRow: head.likelyHeaderRow,
    ownExport: toOwnExport(head.header, guard !== null),
    workbook: {
      sheets: workbook.sheets.map((sheet) => sheet.name),
      sheet: name,
      rows: workbook.sheets.map((sheet) => likely?.rows.get(sheet.name) ?? null),
      hidden: workbook.sheets.filter(({ isHidden }) => isHidden).map((sheet) => sheet.name),
    },
    get hidden() {
      return { rows: hiddenRows }
    },
    get emptyRecords() {
      return emptyRows
    },
    findWarnings,
    sizeBytes,
    encoding: '',
    encodingBy: 'strict',
    delimiter: '',
    delimiterBy: 'ending',
    batches,
    close() {
      strings.close()
      archive.close()
    },
  }
}

/** Whether an unnamed column is below a header cell that is merged with its own. */
function hasMergedHeading({ header, firstRow, width }: SheetHead, { merged }: Marks): boolean {
  return merged.some((range) => {
    if (range.firstRow >= firstRow || range.lastRow < firstRow - 1) return false
    const last = Math.min(range.lastColumn, width - 1)
    for (let column = range.firstColumn; column <= last; column += 1)
      if ((header[column] ?? '') === '') return true
    return false
  })
}

/** Size of a sheet, bytes, above which a preview does not look beyond the cells: that takes seconds. */
const MAX_PREVIEW_BYTES = 256 * 1024 * 1024

/** What follows the cells of a sheet. Throws its problem if cells are to be filled by it. */
async function readEdges(
  archive: Archive,
  part: string,
  { merged }: PlanSource,
  isPreview: boolean,
): Promise<Omit<SheetEdges, 'failure'>> {
  if (isPreview && archive.sizeOf(part) > MAX_PREVIEW_BYTES)
    return { merged: [], links: [], hasLinkFormulas: false }
  const edges = await readSheetEdges(archive, part)
  if (merged === 'fill' && edges.failure !== null) throw edges.failure
  return edges
}

const PART = 'docProps/app.xml'
const MAX_PART_BYTES = 1024 * 1024
const PROPERTIES = {
  name: 'the part of properties',
  maxElements: 1_000_000,
  shape: { Properties: { Application: {} } },
  namespaces: [
    'http://schemas.openxmlformats.org/officeDocument/2006/extended-properties',
    'http://purl.oclc.org/ooxml/officeDocument/extendedProperties',
  ],
}

/** Whether we wrote a workbook and no spreadsheet program changed it since: its cells have no guard. */
export async function isOwnExport(archive: Archive): Promise<boolean> {
  if (!archive.names.has(PART.toLowerCase())) return false
  let isApplication = false
  let application = ''
  await parseXmlPart(archive.path, PROPERTIES, archive.readPart(PART, MAX_PART_BYTES), {
    open(name) {
      isApplication = name === 'Application'
    },
    text(text) {
      if (isApplication) application += text
    },
    close() {
      isApplication = false
    },
  })
  return application === 'Sluice'
}
