import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DOWNLOAD_PATH } from '../../shared/bridge/browser-files.ts'
import {
  BATCH_EXPORT_FORMATS,
  findExportFormat,
  LOAD_EXPORT_FORMATS,
  ROW_EXPORT_FORMATS,
} from '../../shared/run/export-formats.ts'
import type { ExportPlace } from '../bridge/bridge-context.ts'
import { createDocumentHeaders } from '../renderer-files/document-headers.ts'

/** How long an export can be fetched, milliseconds. */
const LIFE_MS = 3_600_000

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.jsonl': 'application/jsonl; charset=utf-8',
}

/** Creates the store of exports in `<workspace>/downloads`. */
export function createDownloads(workspace: string) {
  const folder = join(workspace, 'downloads')
  const waiting = new Map<string, { file: string; name: string; timer: NodeJS.Timeout }>()

  async function remove(id: string): Promise<void> {
    const entry = waiting.get(id)
    if (entry === undefined) return
    waiting.delete(id)
    clearTimeout(entry.timer)
    await rm(entry.file, { force: true }).catch(() => {})
  }

  return {
    /** Where to write an export of that name. */
    async place(name: string): Promise<ExportPlace> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const id = randomBytes(16).toString('hex')
      const file = join(folder, id + toEnding(name))
      const timer = setTimeout(() => void remove(id), LIFE_MS).unref()
      waiting.set(id, { file, name, timer })
      return {
        file,
        publish: ({ file: _file, ...result }) => ({
          kind: 'download',
          url: `${DOWNLOAD_PATH}/${id}/${encodeURIComponent(name)}`,
          name,
          ...result,
        }),
      }
    },
    /** Sends and removes the file that a path names; false if there is none. */
    async send(pathname: string, response: ServerResponse): Promise<boolean> {
      const id = pathname.slice(DOWNLOAD_PATH.length + 1).replace(/\/.*$/s, '')
      const entry = waiting.get(id)
      const size =
        entry === undefined
          ? null
          : await stat(entry.file).then(
              ({ size }) => size,
              () => null,
            )
      if (entry === undefined || size === null) return false
      response.writeHead(200, {
        ...createDocumentHeaders(''),
        'cache-control': 'no-store',
        'content-type': TYPES[extname(entry.name)] ?? 'application/octet-stream',
        'content-disposition': toDisposition(entry.name),
        'content-length': String(size),
      })
      const source = createReadStream(entry.file)
      // A browser may hang up once it has every byte, before the response is closed; that is no failure.
      const isWhole = await pipeline(source, response).then(
        () => true,
        () => source.bytesRead === size,
      )
      // An interrupted download can be fetched again until it expires.
      if (isWhole) await remove(id)
      return true
    },
    /** Removes exports that were not fetched. */
    async clear(): Promise<void> {
      await Promise.all([...waiting.keys()].map(remove))
    },
  }
}

/** Exports that a browser can fetch once each. */
export interface Downloads extends ReturnType<typeof createDownloads> {}

/** The ending that tells a file's format; some have two parts. */
function toEnding(name: string): string {
  const format = findExportFormat(name, [
    ...BATCH_EXPORT_FORMATS,
    ...LOAD_EXPORT_FORMATS,
    ...ROW_EXPORT_FORMATS,
  ])
  return format === null ? extname(name) : `.${format}`
}

/** Names the file for all browsers (RFC 6266): in ASCII for old ones, in UTF-8 for the others. */
function toDisposition(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
