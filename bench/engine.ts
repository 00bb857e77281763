import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { isInstalled, OTHER_CHECKOUT, runChild } from './lib/child.ts'
import { type Contender, runRounds } from './lib/rounds.ts'
import { startStaticServer } from './lib/static-server.ts'

const IN_FLIGHT = 64
const SECONDS = 10
const ROWS = 300_000

const BODY = JSON.stringify({
  text_data: 'thank you for the quick answer about my order, 17',
  user_id: 'user1',
  post_id: '20261121-094329-347k3f9-17',
})

/**
 * Closed pace, 64 in flight, one static server, alternating rounds: the engine with its full journal and
 * recording only, beside autocannon and whichever of wrk, hey and k6 are installed.
 */
export async function runEngineBench(): Promise<void> {
  const server = await startStaticServer()
  const contenders = new Map<string, Contender>([
    ['autocannon', runAutocannon],
    ['sluice, full journal', (url) => runSluice(url, 'journal')],
    ['sluice, recording only', (url) => runSluice(url, 'recording')],
    ["sluice, recording only, undici's client", (url) => runSluice(url, 'undici')],
  ])
  if (OTHER_CHECKOUT !== null) {
    contenders.set('other checkout, full journal', (url) => runSluice(url, 'journal', OTHER_CHECKOUT))
    contenders.set('other checkout, recording only', (url) => runSluice(url, 'recording', OTHER_CHECKOUT))
  }
  const others = new Map<string, Contender>()
  if (isInstalled('wrk')) others.set('wrk', runWrk)
  if (isInstalled('hey')) others.set('hey', runHey)
  if (isInstalled('k6')) others.set('k6', runK6)
  try {
    console.log(`${server.name}, ${IN_FLIGHT} in flight, requests a second`)
    await runRounds(server.baseUrl, contenders, others)
  } finally {
    server.close()
  }
}

async function runSluice(
  url: string,
  kind: 'journal' | 'recording' | 'undici',
  checkout: string | null = null,
): Promise<number> {
  const child = await runChild<number>('send', { url, kind, rows: ROWS, inFlight: IN_FLIGHT }, checkout)
  return child.value
}

/** Requests a second of a peer, closed pace, as in {@link runEngineBench}. */
export async function runAutocannon(url: string): Promise<number> {
  const script = createRequire(import.meta.url).resolve('autocannon/autocannon.js')
  const flags = [
    '-c',
    String(IN_FLIGHT),
    '-d',
    String(SECONDS),
    '-m',
    'POST',
    '-b',
    BODY,
    '--json',
    '--no-progress',
  ]
  const target = `${url}/api/v1/task/sync`
  const args = [
    script,
    ...flags,
    '-H',
    'content-type=application/json',
    '-H',
    'authorization=token key',
    target,
  ]
  const output = JSON.parse(runPeer(process.execPath, args)) as { requests: { average: number } }
  return output.requests.average
}

/** Requests a second of a peer, closed pace, as in {@link runEngineBench}. */
export async function runWrk(url: string): Promise<number> {
  const script = `wrk.method="POST" wrk.body='${BODY}' wrk.headers["Content-Type"]="application/json"`
  const file = `/dev/stdin`
  const args = [
    '-t',
    '1',
    '-c',
    String(IN_FLIGHT),
    '-d',
    `${SECONDS}s`,
    '-s',
    file,
    `${url}/api/v1/task/sync`,
  ]
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(runPeer('wrk', args, script))?.[1])
}

/** Requests a second of a peer, closed pace, as in {@link runEngineBench}. */
export async function runHey(url: string): Promise<number> {
  const flags = ['-c', String(IN_FLIGHT), '-z', `${SECONDS}s`, '-cpus', '1', '-m', 'POST', '-d', BODY]
  const output = runPeer('hey', [...flags, '-T', 'application/json', `${url}/api/v1/task/sync`])
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
}

/** Requests a second of a peer, closed pace, as in {@link runEngineBench}. */
export async function runK6(url: string): Promise<number> {
  const script = `import http from 'k6/http'
export const options = { vus: ${IN_FLIGHT}, duration: '${SECONDS}s' }
export default function () {
  http.post('${url}/api/v1/task/sync', ${JSON.stringify(BODY)}, { headers: { 'content-type': 'application/json' } })
}`
  const output = runPeer('k6', ['run', '--quiet', '--summary-mode=compact', '-'], script)
  return Number(/http_reqs[.\s]*:\s+\d+\s+([\d.]+)\/s/.exec(output)?.[1])
}

function runPeer(command: string, args: string[], input = ''): string {
  const result = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (result.status !== 0) throw new Error(`${command} ended with ${result.status}: ${result.stderr}`)
  return result.stdout
}
