import { isFolderColumns } from '../../../shared/mapping/column-lookup.ts'
import { compileTemplate, parseTemplate, type ReadCell } from '../../../shared/mapping/templates.ts'
import type { Plan } from '../../../shared/plan/plan.ts'

/** Where the media host serves a run's files. */
export interface MediaAddresses {
  /** The address of a file by its path inside the folder. */
  toMediaUrl: (path: string) => string
}

const MEDIA_COLUMN = 'media'

/** The placeholder of a media template that stands for the file's path. */
export const PATH_PLACEHOLDER = 'path'

/** Whether a source's rows may be media files of a folder, whose addresses the plan says how to make. */
export function hasMediaFiles(plan: Plan, columns: readonly string[]): boolean {
  return (plan.source.format === 'folder' || isFolderColumns(columns)) && columns.includes(MEDIA_COLUMN)
}

/** The cell that holds the path of a row's media file, empty where the row is none. */
export function createMediaCell(columns: readonly string[]): ReadCell {
  const index = columns.indexOf(MEDIA_COLUMN)
  return (_row, cells) => cells[index] ?? ''
}

/**
 * Gives the address of a row's media file, empty where the row is none; null where the plan names no way to one.
 * Without `addresses`, as before a run has any, an address of the same form stands in.
 */
export function createMediaUrl(
  plan: Plan,
  columns: readonly string[],
  runToken: string,
  addresses: MediaAddresses | undefined,
): ReadCell | null {
  const { media } = plan.source
  if (media === undefined || !hasMediaFiles(plan, columns)) return null
  const readPath = createMediaCell(columns)
  if (media.kind === 'template') return createTemplateUrl(media.template, columns, runToken, readPath)
  const base = media.url ?? 'http://127.0.0.1'
  const toMediaUrl = addresses?.toMediaUrl ?? ((path) => `${base}/media/${encodePath(path)}`)
  return (row, cells) => {
    const path = readPath(row, cells)
    return path === '' ? '' : toMediaUrl(path)
  }
}

function createTemplateUrl(
  template: string,
  columns: readonly string[],
  runToken: string,
  readPath: ReadCell,
): ReadCell {
  const readers = parseTemplate(template).map((part): ReadCell => {
    if (part.kind === 'text') return () => part.text
    if (part.name.trim() !== PATH_PLACEHOLDER) return compileTemplate(`{{${part.name}}}`, columns, runToken)
    return (row, cells) => encodePath(readPath(row, cells))
  })
  return (row, cells) => (readPath(row, cells) === '' ? '' : readers.map((read) => read(row, cells)).join(''))
}

/** Percent-encodes a path by its segments, so that its slashes stay. */
function encodePath(path: string): string {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}
