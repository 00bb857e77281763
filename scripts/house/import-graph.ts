import { posix } from 'node:path'
import { parseModule } from '../../test/house-rules/read-module.ts'
import type { SourceFile } from './source-files.ts'

/** The files of `src` that a file imports, by path; type-only imports are separate. */
interface FileImports {
  values: ReadonlySet<string>
  types: ReadonlySet<string>
}

/** The imports of every TypeScript file of a checkout, by path. */
export type ImportGraph = ReadonlyMap<string, FileImports>

/** A screen and all files that it imports, directly or indirectly. */
export interface ScreenClosure {
  path: string
  files: number
  lines: number
}

/** Reads the imports of every file. Throws if a file is not TypeScript. */
export function readImportGraph(files: readonly SourceFile[]): ImportGraph {
  const modules = files.filter(({ path }) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  return new Map(modules.map(({ path, text }) => [path, toImports(path, text)]))
}

function toImports(path: string, text: string): FileImports {
  const ours = parseModule(path, text)
    .imports.filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, typeOnly }) => ({
      typeOnly,
      target: posix.join(posix.dirname(path), specifier.replace(/\?.*$/, '')),
    }))
  const values = new Set(ours.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target))
  return { values, types: new Set(ours.map(({ target }) => target).filter((target) => !values.has(target))) }
}

/** Files that exactly one other file imports. */
export function findSingleImporters(graph: ImportGraph): string[] {
  const importers = new Map<string, number>()
  for (const { values, types } of graph.values()) {
    for (const target of [...values, ...types]) importers.set(target, (importers.get(target) ?? 0) + 1)
  }
  return [...graph.keys()].filter((path) => importers.get(path) === 1)
}

/** Each screen of the window with the files that it loads at run time, the largest first. */
export function measureScreens(graph: ImportGraph, files: readonly SourceFile[]): ScreenClosure[] {
  const lines = new Map(files.map(({ path, text }) => [path, text.split('\n').length - 1]))
  return [...graph.keys()]
    .filter((path) => /-screen\.tsx$/.test(path))
    .map((path) => {
      const reached = findClosure(graph, path)
      const sum = [...reached].reduce((total, one) => total + (lines.get(one) ?? 0), 0)
      return { path, files: reached.size, lines: sum }
    })
    .toSorted((one, other) => other.files - one.files)
}

function findClosure(graph: ImportGraph, start: string): Set<string> {
  const reached = new Set([start])
  for (const path of reached) {
    for (const target of graph.get(path)?.values ?? []) if (graph.has(target)) reached.add(target)
  }
  return reached
}
