import type { LoadBenchResult } from './children/load.ts'
import { runChild } from './lib/child.ts'
import { printTable, toText } from './lib/figures.ts'
import { startStaticServer } from './lib/static-server.ts'

const RATE = 1_000
const MIB = 1024 * 1024

/**
 * A load of 1,000 requests per second for 30 minutes, or for the seconds given after the bench's name:
 * resident memory and journal size, minute by minute.
 */
export async function runSoakBench(): Promise<void> {
  const seconds = Number(process.argv[3] ?? 1_800)
  const server = await startStaticServer()
  try {
    console.log(`${RATE} requests a second for ${seconds} s, ${server.name}`)
    const { value } = await runChild<LoadBenchResult>('load', {
      url: server.baseUrl,
      load: { pace: { kind: 'open', ratePerSecond: RATE }, durationMs: seconds * 1000 },
      rows: 100_000,
      noteEveryMs: Math.min(60_000, Math.max(1_000, (seconds * 1000) / 30)),
    })
    const first = value.notes.find(({ atMs }) => atMs >= Math.min(60_000, (seconds * 1000) / 10))
    printTable([
      ['after', 'resident memory', 'of the first minute', 'journal'],
      ...value.notes.map(({ atMs, rssBytes, journalBytes }) => [
        `${Math.round(atMs / 1000)} s`,
        `${toText(rssBytes / MIB)} MB`,
        first === undefined ? '' : `${toText((100 * rssBytes) / first.rssBytes)} %`,
        `${toText(journalBytes / MIB, 1)} MB`,
      ]),
    ])
    const { requests } = value.summary
    console.log(`${toText(requests.sent)} sent, ${toText(requests.succeeded)} succeeded`)
  } finally {
    server.close()
  }
}
