import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { parseSync } from 'vite'

/** The project's top folder. */
export const PROJECT_FOLDER = join(import.meta.dirname, '..', '..')

/** One way a module names another: a static, type, dynamic or required import, or a re-export. */
export interface ModuleImport {
  specifier: string
  line: number
  /** Whether stripping types removes it. */
  typeOnly: boolean
}

/**
 * The parts of a file that the house rules check. `path` is relative to the project, with forward slashes.
 */
export interface SourceModule {
  path: string
  imports: ModuleImport[]
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

/** Every node in source order. */
function* walk(root: Node): Generator<Node> {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    open.push(...Object.values(node).flat().filter(isNode).toReversed())
  }
}

/** Counts lines by offset, fast for ascending offsets. */
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

/** Reads one file's text for the house rules. Throws if the text is not TypeScript. */
export function parseModule(path: string, text: string): SourceModule {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`)
  const toLine = createLineCounter(text)

  const imports: ModuleImport[] = []
  for (const node of walk(program as unknown as Node)) {
    const specifier = toSpecifier(node)
    if (specifier !== null) imports.push({ specifier, line: toLine(node.start), typeOnly: isTypeOnly(node) })
  }

  return {
    path,
    imports,
    comments: comments.map((comment) => ({ text: comment.value, line: toLine(comment.start) })),
  }
}

/** Paths of the files below a project folder, relative to the project, with forward slashes. */
export function listFiles(folder: string): string[] {
  return readdirSync(join(PROJECT_FOLDER, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(PROJECT_FOLDER, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
}

/** Every TypeScript file below a project folder. */
export function readModules(folder: string): SourceModule[] {
  return listFiles(folder)
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => parseModule(path, readFileSync(join(PROJECT_FOLDER, path), 'utf8')))
}
