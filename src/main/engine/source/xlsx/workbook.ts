import { posix } from 'node:path'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { type Archive, createLimitError, formatCount } from './archive.ts'
import type { ToNamespace } from './counted-elements.ts'
import { createNumberFormat, findBuiltInFormat, type NumberFormat } from './number-text.ts'
import { parseXmlPart } from './parse-xml.ts'

export interface WorkbookSheet {
  name: string
  isHidden: boolean
  /** The part that holds its cells; null for a chart or another sheet without cells. */
  part: string | null
}

/** The parts that a workbook names; null for a part that it names but lacks. */
export interface Workbook {
  sheets: WorkbookSheet[]
  /** Whether its dates count from 1904. */
  is1904: boolean
  sharedStrings: string | null
  styles: string | null
}

const MAX_PART_BYTES = 64 * 1024 * 1024
const MAX_SHEETS = 10_000
const SHEET_LIST = {
  name: 'the list of sheets',
  maxElements: 1_000_000,
  shape: { workbook: { workbookPr: {}, sheets: { sheet: {} } } },
}
const PART_LIST = {
  name: 'the list of parts',
  maxElements: 100_000,
  shape: { Relationships: { Relationship: {} } },
  namespaces: ['http://schemas.openxmlformats.org/package/2006/relationships'],
}

/** Beginnings of the relation types of workbook parts, and namespaces of the attribute for a relation. */
const RELATIONS = [
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  'http://purl.oclc.org/ooxml/officeDocument/relationships',
]
const MAX_PART_LIST_BYTES = 16 * 1024 * 1024

interface Relation {
  id: string
  type: string
  target: string
}

/** Reads a workbook's list of sheets and the names of its other parts. Throws `BAD_SOURCE`. */
export async function readWorkbook(archive: Archive): Promise<Workbook> {
  const roots = await readRelations(archive, '')
  const root = roots.find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml'
  const relations = await readRelations(archive, root)
  const byId = new Map(relations.toReversed().map((one) => [one.id, one]))
  const partOf = (type: string) => {
    const target = relations.find((one) => one.type === type)?.target ?? null
    return target !== null && archive.names.has(target.toLowerCase()) ? target : null
  }
  const sheets: WorkbookSheet[] = []
  let is1904 = false
  await parseXmlPart(archive.path, SHEET_LIST, archive.readPart(root, MAX_PART_BYTES), {
    open(name, attributes, toNamespace) {
      if (name === 'workbookPr') is1904 = isTrue(attributes['date1904'])
      if (name !== 'sheet') return
      if (sheets.length === MAX_SHEETS)
        throw createLimitError(archive.path, `the workbook has more than ${formatCount(MAX_SHEETS)} sheets`)
      const relation = byId.get(findRelationId(attributes, toNamespace))
      sheets.push({
        name: attributes['name'] ?? '',
        isHidden: attributes['state'] === 'hidden' || attributes['state'] === 'veryHidden',
        part: relation?.type === 'worksheet' ? relation.target : null,
      })
    },
  })
  return { sheets, is1904, sharedStrings: partOf('sharedStrings'), styles: partOf('styles') }
}

/** Reads the relations of a part of a workbook, in the order of the file. Throws `BAD_SOURCE`. */
export async function readRelations(archive: Archive, part: string): Promise<Relation[]> {
  const folder = posix.dirname(part)
  const name = toRelationsPart(part)
  const relations: Relation[] = []
  if (!archive.names.has(name.toLowerCase())) return relations
  await parseXmlPart(archive.path, PART_LIST, archive.readPart(name, MAX_PART_LIST_BYTES), {
    open(tag, { Id = '', Type = '', Target = '', TargetMode }) {
      if (tag !== 'Relationship' || TargetMode === 'External') return
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target)
      const slash = Type.lastIndexOf('/')
      relations.push({
        id: Id,
        type: RELATIONS.includes(Type.slice(0, slash)) ? Type.slice(slash + 1) : Type,
        target,
      })
    },
  })
  return relations
}

/** The attribute with which an element refers to a relation of its part; '' without one. */
export function findRelationId(
  attributes: Readonly<Record<string, string>>,
  toNamespace: ToNamespace,
): string {
  const [, id = ''] =
    Object.entries(attributes).find(
      ([key]) => key.endsWith(':id') && RELATIONS.includes(toNamespace(key.slice(0, -3)) ?? ''),
    ) ?? []
  return id
}

const LINK_LIST = { ...PART_LIST, name: 'the list of links', maxElements: 1_000_000 }
const MAX_LINK_LIST_BYTES = 256 * 1024 * 1024

/** Reads the targets of a sheet's external links, by the ids of their relations. Throws `BAD_SOURCE`. */
export async function readLinkTargets(archive: Archive, part: string): Promise<ReadonlyMap<string, string>> {
  const name = toRelationsPart(part)
  const targets = new Map<string, string>()
  if (!archive.names.has(name.toLowerCase())) return targets
  await parseXmlPart(archive.path, LINK_LIST, archive.readPart(name, MAX_LINK_LIST_BYTES), {
    open(tag, { Id = '', Target = '', TargetMode }) {
      if (tag === 'Relationship' && TargetMode === 'External') targets.set(Id, Target)
    },
  })
  return targets
}

/** The path of the part that lists another part's relations. */
function toRelationsPart(part: string): string {
  return posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)
}

export function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}

/**
 * The sheet that a person chose: by its exact name, else by its name regardless of case, else by its position
 * among the visible sheets. Without a choice, the first visible sheet. Throws `BAD_SOURCE` that lists the
 * names.
 */
export function chooseSheet(
  path: string,
  sheets: readonly WorkbookSheet[],
  choice: string | number | undefined,
): WorkbookSheet & { part: string } {
  const chosen = findSheet(sheets, choice)
  const known = sheets.map(({ name, isHidden }) => `${JSON.stringify(name)}${isHidden ? ' (hidden)' : ''}`)
  if (chosen === undefined) {
    throw new SluiceError({ id: 'sheet_not_found', source: path, sheet: choice ?? null, sheets: known })
  }
  const { part } = chosen
  if (part === null) {
    throw new SluiceError({ id: 'sheet_is_chart', source: path, sheet: chosen.name, sheets: known })
  }
  return { ...chosen, part }
}

function findSheet(
  sheets: readonly WorkbookSheet[],
  choice: string | number | undefined,
): WorkbookSheet | undefined {
  const inSight = sheets.filter(({ isHidden }) => !isHidden)
  if (typeof choice === 'number') return inSight[choice - 1]
  if (choice === undefined) return inSight.find(({ part }) => part !== null)
  const byName = sheets.find(({ name }) => name === choice)
  const byLetters = sheets.find(({ name }) => name.toLowerCase() === choice.toLowerCase())
  return byName ?? byLetters ?? (/^[1-9]\d*$/.test(choice) ? inSight[Number(choice) - 1] : undefined)
}

/** The number formats of a workbook's cells, by the index of the cell's style. */
export interface Styles {
  /** Whether the workbook's dates count from 1904. */
  is1904: boolean
  toNumberFormat(style: number): NumberFormat
}

const MAX_STYLES_BYTES = 128 * 1024 * 1024
/** A workbook may have 65,490 cell formats and about 250 number formats of at most 255 characters. */
const PART = {
  name: 'the part of styles',
  maxElements: 500_000,
  shape: { styleSheet: { numFmts: { numFmt: {} }, cellXfs: { xf: {} } } },
}
const MAX_NUMBER_FORMATS = 10_000
const MAX_FORMAT_CHARACTERS = 4096

/** Reads the number formats from a workbook's styles; `part` is null if it has none. Throws `BAD_SOURCE`. */
export async function readStyles(archive: Archive, part: string | null, is1904: boolean): Promise<Styles> {
  const codes = new Map<number, string>()
  const formats: number[] = []
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
    await parseXmlPart(archive.path, PART, archive.readPart(part, MAX_STYLES_BYTES), {
      open(name, attributes) {
        if (name === 'numFmt') addFormat(Number(attributes['numFmtId']), attributes['formatCode'] ?? '')
        else if (name === 'xf') formats.push(Number(attributes['numFmtId'] ?? 0))
      },
    })
  }
  const known = new Map<number, NumberFormat>()
  return {
    is1904,
    toNumberFormat(style) {
      const id = formats[style] ?? 0
      let format = known.get(id)
      if (format === undefined) {
        format = createNumberFormat(codes.get(id) ?? findBuiltInFormat(id), is1904)
        known.set(id, format)
      }
      return format
    },
  }
}
