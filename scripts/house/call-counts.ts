import { SourceMap, type SourceMapPayload } from 'node:module'

/** Calls of each function, keyed by its file and position. */
export type CallCounts = ReadonlyMap<string, number>

/** One script in V8's precise coverage; only the members that are read here. */
export interface ScriptCoverage {
  url: string
  functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[]
}

/** A bundled script of the page and its source map. */
export interface BundledScript {
  text: string
  map: SourceMapPayload
}

const SEPARATOR = '\0'

/**
 * Calls of the functions of `src` in Node, from the coverage of all threads. Types are stripped in place, so
 * positions need no source map.
 */
export function countNodeCalls(threads: readonly (readonly ScriptCoverage[])[]): CallCounts {
  const counts = new Map<string, number>()
  for (const { url, functions } of threads.flat()) {
    const path = toSourcePath(url)
    if (path === null || !url.startsWith('file:')) continue
    for (const { range, name } of functions.map(toFunction)) {
      // A function that starts at 0 is the module itself, which runs on load.
      if (range.startOffset > 0) add(counts, `${path}${SEPARATOR}${name}@${range.startOffset}`, range.count)
    }
  }
  return counts
}

/** Calls of the functions of `src` in the page, mapped back through the bundle's source map. */
export function countPageCalls(
  scripts: readonly ScriptCoverage[],
  readBundle: (url: string) => BundledScript | null,
): CallCounts {
  const counts = new Map<string, number>()
  for (const { url, functions } of scripts) {
    const bundle = readBundle(url)
    if (bundle === null) continue
    const map = new SourceMap(bundle.map)
    const lineStarts = findLineStarts(bundle.text)
    for (const { range, name } of functions.map(toFunction)) {
      if (range.startOffset === 0) continue
      const line = lineStarts.findLastIndex((start) => start <= range.startOffset)
      const entry = map.findEntry(line, range.startOffset - (lineStarts[line] ?? 0))
      const path = 'originalSource' in entry ? toSourcePath(entry.originalSource) : null
      if (path !== null) add(counts, `${path}${SEPARATOR}${name}@${range.startOffset}`, range.count)
    }
  }
  return counts
}

/**
 * Files with a function that was called at least `leastCalls` times more often with more rows than with
 * fewer.
 */
export function findFilesThatGrow(fewer: CallCounts, more: CallCounts, leastCalls: number): Set<string> {
  const grown = [...more].filter(([key, calls]) => calls - (fewer.get(key) ?? 0) >= leastCalls)
  return new Set(grown.map(([key]) => toFile(key)))
}

/** Files with a function that was called at all. */
export function findFilesThatRan(counts: CallCounts): Set<string> {
  return new Set([...counts].filter(([, calls]) => calls > 0).map(([key]) => toFile(key)))
}

function toFile(key: string): string {
  return key.slice(0, key.indexOf(SEPARATOR))
}

function toFunction({ functionName, ranges }: ScriptCoverage['functions'][number]) {
  return { name: functionName, range: ranges[0] ?? { startOffset: 0, count: 0 } }
}

function toSourcePath(url: string): string | null {
  const at = url.lastIndexOf('/src/')
  return at < 0 || url.includes('/node_modules/') || url.includes('\0') ? null : url.slice(at + 1)
}

function findLineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function add(counts: Map<string, number>, key: string, calls: number): void {
  counts.set(key, (counts.get(key) ?? 0) + calls)
}
