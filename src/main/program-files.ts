import { fileURLToPath } from 'node:url'

// In the build, all entries, chunks and samples are in one folder; in the sources, each has its own path.
const isBundled = !import.meta.url.endsWith('.ts')

function toUrl(source: string): URL {
  const bundle = source.replace(/^.*\//, './').replace(/\.ts$/, '.js')
  return new URL(isBundled ? bundle : source, import.meta.url)
}

/** Entries of the threads: `.ts` in the sources, `.js` when bundled. */
export const WORKER_URLS = {
  run: toUrl('./engine/session/run-worker.ts'),
  query: toUrl('./engine/query/query-worker.ts'),
  sentBefore: toUrl('./engine/run/sent-before/sent-before-worker.ts'),
  load: toUrl('./engine/load/load-worker.ts'),
  receiver: toUrl('./engine/receiver/receiver-worker.ts'),
  sandbox: toUrl('./sandbox/sandbox-worker.ts'),
} as const

/** The process that talks to the system's keyring; the desktop app has none. */
export const KEYRING_PROCESS = toUrl('./engine/secrets/keyring-process.ts')

/** The process that answers SQL statements; it is killed if a statement does not end. */
export const SQL_PROCESS = toUrl('./engine/lookback/sql/sql-process.ts')

/** Absolute paths of the bundled samples. */
export const SAMPLE_FILES = {
  /** Mild posts, and a few rows that must be blocked. */
  posts: fileURLToPath(toUrl('./cli/demo/sample.csv')),
  /** Texts and addresses of media. */
  media: fileURLToPath(toUrl('./cli/demo/async-sample.csv')),
  /** Terms and notes, two of which are already in the sandbox's watchlist. */
  terms: fileURLToPath(toUrl('./cli/demo/terms-sample.csv')),
} as const

/** Absolute path of the licences of all bundled packages, which the build writes. */
export const NOTICES_FILE = fileURLToPath(
  new URL(isBundled ? '../THIRD-PARTY-NOTICES.txt' : '../../out/THIRD-PARTY-NOTICES.txt', import.meta.url),
)
