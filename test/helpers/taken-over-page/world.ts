import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

/** The tests' own service, which records every byte that it receives. */
interface RecordingServer {
  baseUrl: string
  /** Heads and bodies of everything that arrived. */
  readonly requests: string[]
}

/** Variables of this process and their values, which can be found wherever they end up. */
export const VARIABLES = {
  SLUICE_API_KEY: 'secret-of-the-environment-4f1c',
  STAGING_KEY: 'secret-of-staging-9a2e',
  LIVE_KEY: 'secret-of-production-77d0',
  LIVE_SPARE_KEY: 'secret-of-the-spare-key-c3b8',
  AWS_SECRET_ACCESS_KEY: 'secret-of-somebody-else-e15a',
  PROXY_LOGIN: 'user:secret-of-the-proxy-0b6f',
} as const

/** Content of the files without a handle. */
const FILE_SECRET = 'content-that-no-handle-names-58d3'

/** Everything that a taken-over page could harm, and the record of what happened to it. */
export interface World {
  workspace: string
  /** Address of the stored connection `staging`, whose key is STAGING_KEY. */
  staging: RecordingServer
  /** Address of the stored production connection `live`. */
  production: RecordingServer
  strangers: readonly [RecordingServer, RecordingServer]
  /** A file chosen in a dialog or uploaded. */
  source: string
  /** Files and folders that nobody chose, absolute. */
  unnamed: string[]
  /** What has leaked, changed or opened since the world was created, a sentence each. */
  findHarm(said: readonly string[]): string[]
}

/** Creates a world in folders of its own; its servers close when the current test ends. */
export async function createWorld(workspace = join(createTemporaryFolder(), 'workspace')): Promise<World> {
  for (const [name, value] of Object.entries(VARIABLES)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [staging, production, one, other] = await Promise.all([
    startServer(),
    startServer(),
    startServer(),
    startServer(),
  ])
  mkdirSync(workspace, { recursive: true, mode: 0o700 })
  const connections = [
    {
      name: 'staging',
      baseUrl: staging.baseUrl,
      keys: [{ label: 'only', env: 'STAGING_KEY' }],
      activeKey: 'only',
    },
    {
      name: 'live',
      baseUrl: production.baseUrl,
      keys: [
        { label: 'first', env: 'LIVE_KEY' },
        { label: 'spare', env: 'LIVE_SPARE_KEY' },
      ],
      activeKey: 'first',
      isProduction: true,
    },
  ]
  for (const connection of connections) {
    const stored = storedConnectionSchema.parse(connection)
    changeConnections(workspace, (known) => addConnection(known, stored))
  }
  const folder = createTemporaryFolder()
  const home = join(folder, 'home')
  mkdirSync(join(home, 'pictures'), { recursive: true })
  const lines = (text: string) => `text_data,user_id,post_id\n${text},u1,p1\nsecond,u2,p2\n`
  const unnamed = [
    'accounts.csv',
    'old-results.csv',
    'notes.jsonl',
    'report.html',
    'key.pem',
    'pictures/a.txt',
  ].map((name) => join(home, name))
  for (const file of unnamed) writeFileSync(file, lines(FILE_SECRET))
  const source = join(folder, 'named.csv')
  writeFileSync(source, lines('hello'))
  const before = takeFingerprint(home)
  const servers = { staging, production, 'a stranger': one, 'another stranger': other }
  return {
    workspace,
    staging,
    production,
    strangers: [one, other],
    source,
    unnamed: [...unnamed, home, join(home, 'pictures'), join(workspace, 'connections.json')],
    findHarm(said) {
      const harm: string[] = []
      for (const [name, { requests }] of Object.entries(servers)) {
        const arrived = requests.join('\n')
        for (const [variable, value] of Object.entries(VARIABLES)) {
          const isItsOwn = name === 'staging' && variable === 'STAGING_KEY'
          if (!isItsOwn && holds(arrived, value)) harm.push(`the value of ${variable} went to ${name}`)
        }
        if (holds(arrived, FILE_SECRET)) harm.push(`a file that no handle named went to ${name}`)
      }
      if (production.requests.length > 0) harm.push(`production got ${production.requests[0]?.slice(0, 80)}`)
      const heard = said.join('\n')
      for (const [variable, value] of Object.entries(VARIABLES)) {
        if (holds(heard, value)) harm.push(`the page was told the value of ${variable}`)
      }
      if (holds(heard, FILE_SECRET)) harm.push('the page was told what a file holds that no handle named')
      if (takeFingerprint(home) !== before) harm.push('a file that no handle named was written')
      return [...harm, ...listOpenListeners().map((address) => `something listens on ${address}`)]
    },
  }
}

function holds(text: string, secret: string): boolean {
  return text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, ''))
}

function takeFingerprint(folder: string): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    hash.update(path)
    if (entry.isFile()) hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}

async function startServer(): Promise<RecordingServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push(
        `${request.method} ${request.url}\n${request.rawHeaders.join('\n')}\n${Buffer.concat(chunks)}`,
      )
      const body = JSON.stringify({ task_id: 't', triggered_rules: [] })
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const LISTENING = '0A'

/** Non-local addresses on which this process listens, from `/proc`; empty without `/proc`. */
function listOpenListeners(): string[] {
  if (process.platform !== 'linux') return []
  const own = new Set<string>()
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`)) ?? []
      if (inode !== undefined) own.add(inode)
    } catch {
      // Closed meanwhile.
    }
  }
  const open: string[] = []
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const [, address = '', , state] = fields
      if (state !== LISTENING || !own.has(fields[9] ?? '') || isLoopback(address)) continue
      open.push(address)
    }
  }
  return open
}

/** Addresses in `/proc/net` are hex, with the bytes of each 32-bit word in reverse order. */
function isLoopback(address: string): boolean {
  const [host = ''] = address.split(':')
  return (
    host.endsWith('7F') || host === '00000000000000000000000001000000' || /^0{16}FFFF0000.{6}7F$/.test(host)
  )
}
