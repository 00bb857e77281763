import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RowMedia } from '../../shared/bridge/media.ts'
import { isFolderColumns, toColumnIndex, toWholeMapping } from '../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { formatRow } from '../../shared/plan/source-place.ts'
import type { RowDetail } from '../../shared/run/results.ts'
import type { Handlers } from './bridge-context.ts'
import { fetchMedia } from './fetch-media.ts'

/** Media that are shown of one row. */
const MEDIA_MAX = 8

/** Longest cell that can name a file, UTF-16 code units. */
const NAME_MAX = 2_048

/** Pictures, videos and sounds that rows name. */
export const mediaHandlers: Handlers<'media'> = {
  ofRow: async ({ context: { engine, media }, input: { runId, row } }) => {
    const [detail, plan] = await Promise.all([
      engine.results.readRow(runId, row),
      engine.runs.readPlan(runId),
    ])
    const names = findMediaNames(plan, detail)
    const folder = await findMediaFolder(plan.source.path)
    return Promise.all(
      names.map(async (name): Promise<RowMedia> => {
        const { column } = name
        if (name.kind === 'remote') return { kind: 'remote', column, host: name.url.host }
        const path = folder === null ? null : toPathInside(folder, name.path)
        if (folder === null || path === null)
          return { kind: 'unusable', column, why: 'missing', sizeBytes: null }
        return { ...(await media.addFile(folder, path)), column }
      }),
    )
  },
  fetch: async ({ context: { engine, media }, input: { runId, row, column }, signal }) => {
    const [detail, plan] = await Promise.all([
      engine.results.readRow(runId, row),
      engine.runs.readPlan(runId),
    ])
    const name = findMediaNames(plan, detail).find((one) => one.column === column)
    if (name?.kind !== 'remote')
      throw new SluiceError({ id: 'media_not_named', row: formatRow(detail.result.place), column })
    const { host, href } = name.url
    if (plan.connection.proxy !== undefined) throw new SluiceError({ id: 'media_behind_proxy', host })
    const { bytes, type } = await fetchMedia(href, { signal })
    return { ...media.addBytes(bytes, type), column }
  },
}

type MediaName = { column: number } & ({ kind: 'remote'; url: URL } | { kind: 'local'; path: string })

/** Endings of files that a page may be able to show; what they are is read from their bytes. */
const ENDING =
  /\.(png|apng|jpe?g|gif|webp|avif|bmp|mp4|m4v|mov|webm|mkv|ogv|mp3|m4a|aac|wav|flac|og[ga]|opus)$/i

/**
 * The cells of a row that name media, each file once: an address in a column that fills `url` or `media`, or that ends
 * as media do, and a path that does.
 */
function findMediaNames(
  plan: Plan,
  { columns, result: { cells } }: Pick<RowDetail, 'columns' | 'result'>,
): MediaName[] {
  const mapping = toWholeMapping(plan, columns)
  const filling = new Set(['url', 'media'].map((field) => toColumnIndex(columns, mapping[field])))
  const mediaOfFolder = isFolderColumns(columns) ? columns.indexOf('media') : -1
  const names = new Map<string, MediaName>()
  for (const [column, cell] of cells.entries()) {
    const text = cell.trim()
    if (text === '' || text.length > NAME_MAX || /[\r\n\0]/.test(text)) continue
    const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
    if (url !== null) {
      if (filling.has(column) || ENDING.test(url.pathname)) names.set(text, { column, kind: 'remote', url })
    } else if (column === mediaOfFolder || ENDING.test(text)) {
      const path = toLocalPath(text)
      if (path !== null && !names.has(path)) names.set(path, { column, kind: 'local', path })
    }
  }
  return [...names.values()].slice(0, MEDIA_MAX)
}

function toLocalPath(text: string): string | null {
  if (!/^[a-z][a-z+.-]+:/i.test(text)) return text.replace(/^\.[\\/]/, '')
  try {
    return text.toLowerCase().startsWith('file:') ? fileURLToPath(text) : null
  } catch {
    return null
  }
}

/** The folder that files of a source are in: itself, or the one that its file is in. Null where it is gone. */
async function findMediaFolder(source: string): Promise<string | null> {
  try {
    const real = await realpath(source)
    return (await stat(real)).isDirectory() ? real : dirname(real)
  } catch {
    return null
  }
}

/** The path inside a folder that a name means, with forward slashes; null where it means one outside. */
function toPathInside(folder: string, name: string): string | null {
  const path = isAbsolute(name) ? relative(folder, name) : name
  if (isAbsolute(path) || path === '') return null
  // A table written on Windows has backslashes; elsewhere they may be part of a name.
  return sep === '\\' ? path.replaceAll('\\', '/') : path
}
