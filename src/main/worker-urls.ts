// In the build every entry and chunk is a .js file of one folder; from sources each worker is a .ts file of its own.
const isBundled = !import.meta.url.endsWith('.ts')

function toWorkerUrl(source: string): URL {
  const bundle = source.replace(/^.*\//, './').replace(/\.ts$/, '.js')
  return new URL(isBundled ? bundle : source, import.meta.url)
}

/** Entries of the threads, as the files that run now: `.ts` from sources, `.js` when bundled. */
export const WORKER_URLS = {
  run: toWorkerUrl('./engine/session/run-worker.ts'),
  query: toWorkerUrl('./engine/query/query-worker.ts'),
  load: toWorkerUrl('./engine/load/load-worker.ts'),
  receiver: toWorkerUrl('./engine/receiver/receiver-worker.ts'),
  sandbox: toWorkerUrl('./sandbox/sandbox-worker.ts'),
} as const
