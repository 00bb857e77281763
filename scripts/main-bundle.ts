// Bundles of the code that runs in Node: for the desktop app (electron.vite.config.ts), the command line
// (scripts/pack-cli, scripts/pack-binary) and the benches.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Plugin, type Rolldown } from 'vite'

// Not `import.meta.dirname`: electron-vite bundles its configuration and only replaces this for each file in
// it.
const toPath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** Absolute path of a file below `src`. */
export const toSource = (path: string) => toPath(`src/${path}`)

/**
 * Entries of the threads and of the process for SQL statements, by the names that src/main/program-files.ts
 * looks for.
 */
export const WORKER_ENTRIES = {
  'run-worker': toSource('main/engine/session/run-worker.ts'),
  'load-worker': toSource('main/engine/load/load-worker.ts'),
  'query-worker': toSource('main/engine/query/query-worker.ts'),
  'sent-before-worker': toSource('main/engine/run/sent-before/sent-before-worker.ts'),
  'receiver-worker': toSource('main/engine/receiver/receiver-worker.ts'),
  'sandbox-worker': toSource('main/sandbox/sandbox-worker.ts'),
  'sql-process': toSource('main/engine/lookback/sql/sql-process.ts'),
}

/**
 * The process that only the command line has: for the system's keyring. The desktop app has its own store.
 */
const PROCESS_ENTRIES = {
  'keyring-process': toSource('main/engine/secrets/keyring-process.ts'),
}

/** The keyring's library: native code, so it stays outside the bundles. */
const KEYRING_LIBRARY = '@napi-rs/keyring'

/** Chunks lie beside the entries, so that src/main/program-files.ts finds the workers from any of them. */
export const MAIN_OUTPUT = {
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
} satisfies Rolldown.OutputOptions

/** The list of bundled packages and their licences, written for scripts/licences.ts. Never shipped. */
export const LICENCE_LIST = 'licences.json'

/**
 * Bundles entries for Node 24 into a folder, with every package that they use, and with the threads and processes they
 * start. Needs no Electron. `keyringLibrary` is where the bundles look for {@link KEYRING_LIBRARY} (default: its package).
 */
export async function buildForNode(
  outDir: string,
  entries: Readonly<Record<string, string>>,
  keyringLibrary = KEYRING_LIBRARY,
): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    root: toPath('.'),
    plugins: createMainPlugins(),
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: 'node24',
      license: { fileName: LICENCE_LIST },
      rolldownOptions: {
        input: { ...WORKER_ENTRIES, ...PROCESS_ENTRIES, ...entries },
        external: [KEYRING_LIBRARY],
        output: { ...MAIN_OUTPUT, paths: { [KEYRING_LIBRARY]: keyringLibrary } },
      },
    },
  })
}

/** Bundles the executable's entry into one CommonJS file, which may import only Node's own modules. */
export async function buildExecutableEntry(outDir: string): Promise<string> {
  const fileName = 'executable.cjs'
  await build({
    configFile: false,
    logLevel: 'warn',
    root: toPath('.'),
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: toSource('main/cli/executable.ts'),
      outDir,
      emptyOutDir: false,
      target: 'node24',
      rolldownOptions: { output: { format: 'cjs', entryFileNames: fileName } },
    },
  })
  return `${outDir}/${fileName}`
}

/** Plugins of every bundle that runs in Node. */
export function createMainPlugins(): Plugin[] {
  return [
    ...['sample.csv', 'async-sample.csv', 'terms-sample.csv'].map((name) =>
      copyBesideBundles(name, `main/cli/demo/${name}`),
    ),
    requireZlibPlainly(),
  ]
}

/** Copies a file that the code reads from its own folder to the bundles' folder. */
function copyBesideBundles(fileName: string, path: string): Plugin {
  return {
    name: 'copy-beside-bundles',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: readFileSync(toSource(path)) })
    },
  }
}

/**
 * hdr-histogram-js hides its `require` of zlib in an `eval` from bundlers that could not resolve it; ours
 * can.
 */
function requireZlibPlainly(): Plugin {
  return {
    name: 'require-zlib-plainly',
    transform: {
      filter: { id: /hdr-histogram-js.+encoding\.js$/ },
      handler: (code) => code.replaceAll(/eval\('(require\("zlib"\)\.\w+)'\)/g, '$1'),
    },
  }
}
