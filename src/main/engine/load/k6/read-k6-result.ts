import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'
import { K6Lines } from './k6-lines.ts'
import type { K6Result } from './k6-result.ts'
import { parseK6Summary, summaryToResult } from './k6-summary.ts'

/** Largest summary that is read; one has a few kilobytes for each metric. */
const SUMMARY_MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads results of k6, whichever of its four kinds they are; several files have to be JSON lines, of one run's parts
 * on several machines, which are put together. Throws `BAD_SOURCE`.
 */
export async function readK6Result(files: readonly string[]): Promise<K6Result> {
  const lines = new K6Lines()
  for (const file of files) {
    const isSummary = await withChunks(file, async (chunks) => {
      const { head, all } = await peekFirstLine(chunks)
      if (!isJsonLine(head)) return true
      await lines.read(all)
      return false
    })
    if (!isSummary) continue
    if (files.length === 1) return readSummary(file)
    throw new SluiceError({ id: 'k6_not_json_lines', file })
  }
  if (lines.lines === 0) throw toNoResult(files[0] ?? 'k6')
  return lines.toResult()
}

async function readSummary(file: string): Promise<K6Result> {
  const text = await withChunks(file, (chunks) => readText(file, chunks))
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw toNoResult(file)
  }
  const summary = parseK6Summary(value)
  if (summary === null) throw toNoResult(file)
  return summaryToResult(summary)
}

async function withChunks<Result>(
  file: string,
  use: (chunks: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  try {
    const handle = await open(file, 'r')
    const raw = handle.createReadStream()
    try {
      const magic = Buffer.alloc(2)
      await handle.read(magic, 0, 2, 0)
      const isZipped = magic[0] === 0x1f && magic[1] === 0x8b
      return await use(isZipped ? unzip(raw) : raw)
    } finally {
      raw.destroy()
      await handle.close().catch(() => undefined)
    }
  } catch (error) {
    throw toReadError(file, error)
  }
}

/** Ends with `Z_BUF_ERROR` where the file ends in the middle. */
function unzip(raw: Readable): Readable {
  const unzipped = createGunzip()
  raw.on('error', (error) => unzipped.destroy(error))
  return raw.pipe(unzipped)
}

/** The first line, and everything again from the start. */
async function peekFirstLine(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: string; all: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let size = 0
  for (;;) {
    const next = await iterator.next()
    if (next.done === true) break
    read.push(next.value)
    size += next.value.length
    if (next.value.includes(0x0a) || size > SUMMARY_MAX_BYTES) break
  }
  const head = Buffer.concat(read).toString('utf8').split('\n')[0] ?? ''
  async function* all() {
    yield* read
    for (;;) {
      const next = await iterator.next()
      if (next.done === true) return
      yield next.value
    }
  }
  return { head, all: all() }
}

/** Whether a file's first line is one of k6's JSON lines: a summary is one object, over many lines or one. */
function isJsonLine(head: string): boolean {
  return /^\s*\{.*"type":"(Metric|Point)"/.test(head) && /"metric":"/.test(head)
}

async function readText(file: string, chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > SUMMARY_MAX_BYTES) throw toNoResult(file)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString('utf8')
}

function toNoResult(file: string): SluiceError {
  return new SluiceError({ id: 'k6_no_results', file })
}

function toReadError(file: string, error: unknown): unknown {
  const system = toSystemCode(error)
  if (system === null || error instanceof SluiceError) return error
  return new SluiceError({ id: 'k6_unreadable', file, system }, { cause: error })
}
