import { posix } from 'node:path'
import type { ModuleImport, SourceModule } from './read-module.ts'

/** A part of `src`: its files, and the other parts that they may import. */
interface Layer {
  name: string
  files: RegExp
  imports: readonly string[]
}

/** A package or a family of packages, and the only parts of `src` that may import it. */
interface Owner {
  packages: RegExp
  layers: readonly string[]
}

/** The engine's rooms in the order in which a row passes them: each may import earlier rooms only. */
const ROOMS = [
  'secrets',
  'workspace',
  'source',
  'mapping',
  'service',
  'journal',
  'receiver',
  'sending',
  'scratchpad',
  'page',
  // The two products do not know each other.
  'run',
  'load',
  // Results of both, evaluation of these, and the threads that combine the rooms.
  'results',
  'lookback',
  'query',
  'session',
] as const

/** The rooms that a room may import, if they are fewer than all earlier ones. */
const FEWER: Partial<Record<(typeof ROOMS)[number], readonly string[]>> = {
  source: [],
  mapping: ['source'],
  service: ['secrets', 'mapping'],
  journal: ['workspace'],
  receiver: ['secrets', 'workspace', 'journal', 'service'],
  scratchpad: ['secrets', 'source', 'mapping', 'service', 'receiver'],
  page: [],
  load: ROOMS.slice(0, ROOMS.indexOf('run')),
}

const ROOM_LAYERS: readonly Layer[] = ROOMS.map((name, index) => ({
  name,
  files: new RegExp(`^src/main/engine/${name}/`),
  imports: [
    'shared',
    'worker rpc',
    'own process',
    'engine-interface',
    ...(FEWER[name] ?? ROOMS.slice(0, index)),
  ],
}))

// The first layer with a matching pattern wins, so single files come before their folders.
const LAYERS: readonly Layer[] = [
  { name: 'shared', files: /^src\/shared\//, imports: [] },
  ...ROOM_LAYERS,
  {
    name: 'engine-interface',
    files: /^src\/main\/engine\/engine-interface\.ts$/,
    imports: ['shared', 'own process', 'secrets'],
  },
  {
    name: 'engine',
    files: /^src\/main\/engine\/engine\.ts$/,
    imports: ['shared', 'program files', 'own process', 'engine-interface', ...ROOMS],
  },
  // Shared by the shells: the workspace's location and the built renderer's files.
  {
    name: 'shell parts',
    files: /^src\/main\/(default-workspace\.ts$|renderer-files\/)/,
    imports: ['shared'],
  },
  // Names the entries of threads and the samples, but imports none of them.
  { name: 'program files', files: /^src\/main\/program-files\.ts$/, imports: [] },
  { name: 'worker rpc', files: /^src\/main\/worker-rpc\.ts$/, imports: ['shared'] },
  // Starts processes that must end in any case.
  { name: 'own process', files: /^src\/main\/own-process\.ts$/, imports: [] },
  {
    name: 'sandbox',
    files: /^src\/main\/sandbox\//,
    // It fetches only the media files that a receiver serves, by the rules for their addresses.
    imports: ['shared', 'worker rpc', 'receiver'],
  },
  {
    name: 'bridge',
    files: /^src\/main\/bridge\//,
    imports: [
      'shared',
      'program files',
      // Windows name the thread that crashed.
      'worker rpc',
      'own process',
      'engine',
      'engine-interface',
      'secrets',
      'workspace',
      // Pages show media files by the same rules as the service.
      'receiver',
      'sandbox',
    ],
  },
  {
    name: 'desktop',
    files: /^src\/main\/desktop\//,
    imports: ['shared', 'own process', 'secrets', 'workspace', 'shell parts', 'bridge'],
  },
  { name: 'web', files: /^src\/main\/web\//, imports: ['shared', 'shell parts', 'bridge'] },
  {
    name: 'cli',
    files: /^src\/main\/cli\//,
    imports: [
      'shared',
      'shell parts',
      'program files',
      'worker rpc',
      'engine',
      'engine-interface',
      'secrets',
      'workspace',
      'sandbox',
      'web',
    ],
  },
  { name: 'ui', files: /^src\/renderer\/ui\//, imports: ['shared'] },
  { name: 'bridge client', files: /^src\/renderer\/bridge\//, imports: ['shared'] },
  { name: 'feature', files: /^src\/renderer\/features\//, imports: ['shared', 'ui', 'bridge client'] },
  { name: 'renderer', files: /^src\/renderer\//, imports: ['shared', 'ui', 'bridge client', 'feature'] },
]

const RENDERER = ['renderer', 'ui', 'feature', 'bridge client']

// zod is allowed everywhere: a schema belongs beside its data.
const OWNERS: readonly Owner[] = [
  { packages: /^electron(-updater)?(\/|$)/, layers: ['desktop'] },
  { packages: /^@napi-rs\/keyring$/, layers: ['secrets'] },
  { packages: /^undici(\/|$)/, layers: ['service'] },
  { packages: /^p-queue(\/|$)/, layers: ['sending'] },
  { packages: /^(papaparse|iconv-lite|jschardet|yauzl|saxes|numfmt|mediabunny)(\/|$)/, layers: ['source'] },
  { packages: /^yazl(\/|$)/, layers: ['run', 'load'] },
  { packages: /^hyparquet-writer$/, layers: ['run'] },
  { packages: /^mime(\/|$)/, layers: ['source', 'receiver'] },
  { packages: /^fastify(\/|$)/, layers: ['receiver', 'sandbox'] },
  { packages: /^pure-rand(\/|$)/, layers: ['shared'] },
  { packages: /^hdr-histogram-js(\/|$)/, layers: ['shared', 'sending', 'page', 'load', 'lookback'] },
  { packages: /^leven$/, layers: ['shared'] },
  { packages: /^tinyqueue$/, layers: ['sandbox'] },
  { packages: /^@orpc\/contract(\/|$)/, layers: ['shared'] },
  { packages: /^@orpc\/server(\/|$)/, layers: ['bridge'] },
  { packages: /^@orpc\/(client|tanstack-query)(\/|$)/, layers: ['bridge client'] },
  { packages: /^ws(\/|$)/, layers: ['bridge', 'web'] },
  { packages: /^env-paths(\/|$)/, layers: ['shell parts'] },
  {
    packages: /^(@opentelemetry|commander|log-update|open|fast-string-width|fast-wrap-ansi)(\/|$)/,
    layers: ['cli'],
  },
  {
    packages:
      /^(react|react-dom|zustand|uplot|get-nonce|jsonc-parser|diff|@mantine\/.+|@tabler\/.+|@tanstack\/.+)(\/|$)/,
    layers: RENDERER,
  },
]

/** Whether the table assigns a package to parts of `src`. */
export function hasOwner(name: string): boolean {
  return OWNERS.some(({ packages }) => packages.test(name))
}

const SQLITE_FOLDERS =
  /^src\/main\/(engine\/(workspace|journal|receiver|run\/journal|lookback)|sandbox\/store)\//

function listAllowed(layer: Layer): string {
  return layer.imports.length === 0 ? 'nothing of ours outside itself' : layer.imports.join(', ')
}

/** The part of `src` a file belongs to, or null if it belongs to none. */
export function findLayer(path: string): string | null {
  return LAYERS.find((layer) => layer.files.test(path))?.name ?? null
}

/** The project path of an internal import, or null if it names a package. */
function resolveImport(path: string, specifier: string): string | null {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier.replace(/\?.*$/, '')) : null
}

function checkPackage(path: string, specifier: string, layer: string): string | null {
  if (/^(node:)?sqlite$/.test(specifier)) {
    if (SQLITE_FOLDERS.test(path)) return null
    return 'only what reads and writes databases may import node:sqlite: the journals, the inbox, verdicts and the sandbox'
  }
  if (specifier.startsWith('node:') && (layer === 'shared' || RENDERER.includes(layer))) {
    return `${layer} runs in a window too, so it may import no Node module`
  }
  const owner = OWNERS.find(({ packages }) => packages.test(specifier))
  if (owner === undefined || owner.layers.includes(layer)) return null
  return `only ${owner.layers.join(', ')} may import ${specifier}: one package, one owner`
}

/** The feature folder a renderer file is in. */
function toFeature(path: string): string | undefined {
  return /^src\/renderer\/features\/([^/]+)/.exec(path)?.[1]
}

/** The fault in one import with the allowed alternatives; null if there is none. */
export function checkImport(
  path: string,
  { specifier, line }: Pick<ModuleImport, 'specifier' | 'line'>,
): string | null {
  const where = `${path}:${line}: imports ${specifier}`
  const layer = LAYERS.find(({ files }) => files.test(path))
  if (layer === undefined)
    return `${path}: is in no known part of src; see docs/architecture.md for the layout`
  const target = resolveImport(path, specifier)
  if (target === null) {
    const wrong = checkPackage(path, specifier, layer.name)
    return wrong === null ? null : `${where}; ${wrong}`
  }
  const targetLayer = findLayer(target)
  if (targetLayer === null) return `${where}; src may import nothing of ours from outside src`
  if (layer.name === 'feature' && targetLayer === 'feature') {
    if (toFeature(path) === toFeature(target)) return null
    return `${where}; features never import each other: share through src/renderer/ui or src/shared`
  }
  if (targetLayer === layer.name || layer.imports.includes(targetLayer)) return null
  return `${where} (${targetLayer}); ${layer.name} may import ${listAllowed(layer)}`
}

/** Circles of files that import each other, by values or types, each as one line of paths. */
export function findCycles(modules: readonly SourceModule[]): string[] {
  const edges = new Map(
    modules.map(({ path, imports }) => [
      path,
      imports.map((one) => resolveImport(path, one.specifier)).filter((target) => target !== null),
    ]),
  )
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) {
      cycles.push([...trail.slice(at), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) visit(path, [])
  return cycles
}
