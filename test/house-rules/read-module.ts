import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { parseSync } from 'vite'

/** The project's top folder. */
export const PROJECT_FOLDER = join(import.meta.dirname, '..', '..')

/** One way a module names another: a static, type, dynamic or required import, or a re-export. */
export interface ModuleImport {
  specifier: string
  line: number
  /** Whether it is gone when types are stripped. */
  typeOnly: boolean
}

/** An export, and whether a JSDoc comment stands right before it. */
interface ModuleExport {
  name: string
  line: number
  documented: boolean
}

/** What the house rules look at in one file. `path` is relative to the project, with forward slashes. */
export interface SourceModule {
  path: string
  imports: ModuleImport[]
  exports: ModuleExport[]
  comments: { text: string; line: number }[]
}

interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Every node, in the order of the text. */
function* walk(root: Node): Generator<Node> {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    open.push(...Object.values(node).flat().filter(isNode).toReversed())
  }
}

/** Counts lines by offset, quickly where offsets only grow. */
function createLineCounter(text: string): (offset: number) => number {
  let [line, start] = [1, 0]
  return (offset) => {
    if (offset < start) [line, start] = [1, 0]
    for (let end = text.indexOf('\n', start); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
      line += 1
      start = end + 1
    }
    return line
  }
}

function toLiteral(value: unknown): string | null {
  return isNode(value) && value.type === 'Literal' && typeof value['value'] === 'string'
    ? value['value']
    : null
}

function isTypeOnly(node: Node): boolean {
  if (node.type === 'TSImportType') return true
  if (node['importKind'] === 'type' || node['exportKind'] === 'type') return true
  const specifiers = node['specifiers']
  if (!Array.isArray(specifiers) || specifiers.length === 0) return false
  return specifiers.every(
    (one) => isNode(one) && (one['importKind'] === 'type' || one['exportKind'] === 'type'),
  )
}

function toSpecifier(node: Node): string | null {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return toLiteral(node['source'])
    case 'CallExpression': {
      const callee = node['callee']
      const [first] = Array.isArray(node['arguments']) ? node['arguments'] : []
      return isNode(callee) && callee['name'] === 'require' ? toLiteral(first) : null
    }
    default:
      return null
  }
}

function toDeclaredNames(declaration: Node): string[] {
  const declared = declaration['declarations'] ?? [declaration]
  if (!Array.isArray(declared)) return []
  return declared.flatMap((one) => (isNode(one) && isNode(one['id']) ? [String(one['id']['name'])] : []))
}

function toLocalNames(node: Node): string[] {
  const specifiers = Array.isArray(node['specifiers']) ? node['specifiers'] : []
  return specifiers.flatMap((one) =>
    isNode(one) && isNode(one['local']) && typeof one['local']['name'] === 'string'
      ? [one['local']['name']]
      : [],
  )
}

/** Reads one file's text into what the house rules look at. Throws where the text is no TypeScript. */
export function parseModule(path: string, text: string): SourceModule {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`)
  const toLine = createLineCounter(text)
  const isDocumented = (node: Node) => {
    const comment = comments.findLast(({ end }) => end <= node.start)
    if (comment?.type !== 'Block' || !comment.value.startsWith('*')) return false
    return /^\s*$/.test(text.slice(comment.end, node.start))
  }

  const imports: ModuleImport[] = []
  for (const node of walk(program as unknown as Node)) {
    const specifier = toSpecifier(node)
    if (specifier !== null) imports.push({ specifier, line: toLine(node.start), typeOnly: isTypeOnly(node) })
  }

  const exports: ModuleExport[] = []
  const locals = new Map<string, boolean>()
  for (const node of program.body as unknown as Node[]) {
    const declaration = node['declaration']
    if (!node.type.startsWith('Export')) {
      for (const name of toDeclaredNames(node)) locals.set(name, locals.get(name) || isDocumented(node))
      continue
    }
    const names = isNode(declaration) ? toDeclaredNames(declaration) : []
    if (node.type === 'ExportDefaultDeclaration' && names.length === 0) names.push('default')
    for (const name of names) {
      // Overloads share the comment of the first.
      if (exports.some((one) => one.name === name)) continue
      exports.push({ name, line: toLine(node.start), documented: isDocumented(node) })
    }
    // What is re-exported from another module is documented there; what is listed here is documented above.
    if (node['source'] === null || node['source'] === undefined) {
      for (const name of toLocalNames(node)) {
        exports.push({ name, line: toLine(node.start), documented: locals.get(name) ?? false })
      }
    }
  }

  return {
    path,
    imports,
    exports,
    comments: comments.map((comment) => ({ text: comment.value, line: toLine(comment.start) })),
  }
}

/** Paths of the files below a folder of the project, relative to the project, with forward slashes. */
export function listFiles(folder: string): string[] {
  return readdirSync(join(PROJECT_FOLDER, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(PROJECT_FOLDER, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
}

/** Every TypeScript file below a folder of the project. */
export function readModules(folder: string): SourceModule[] {
  return listFiles(folder)
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => parseModule(path, readFileSync(join(PROJECT_FOLDER, path), 'utf8')))
}
