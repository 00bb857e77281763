import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiKey } from '../src/main/engine/secrets/bound-secret.ts'
import type { Exchange } from '../src/main/engine/service/exchange.ts'
import { createServiceClients } from '../src/main/engine/service/service-client.ts'
import { createCertificate } from '../test/helpers/certificates.ts'
import { isInstalled } from './lib/child.ts'
import { findFreePort, waitUntilListening } from './lib/static-server.ts'

const REQUESTS = 20_000
const IN_FLIGHT = 64

/** Files and address of a gateway to be started. */
interface Place {
  folder: string
  port: number
  certFile: string
  keyFile: string
}

/** A server to put in front of a service; it answers every request with `{"path": …}`. */
interface Gateway {
  name: string
  isHere: () => boolean
  start: (place: Place) => ChildProcess
}

const GATEWAYS: readonly Gateway[] = [
  { name: 'nginx, defaults', isHere: () => isInstalled('nginx'), start: (place) => startNginx(place, '') },
  {
    name: 'nginx, keepalive_requests 100',
    isHere: () => isInstalled('nginx'),
    start: (place) => startNginx(place, 'keepalive_requests 100;'),
  },
  { name: 'HAProxy, 16 connections an address', isHere: () => isInstalled('haproxy'), start: startHaproxy },
  { name: 'caddy', isHere: () => isInstalled('caddy'), start: startCaddy },
  { name: 'Go net/http', isHere: () => isInstalled('go'), start: startGo },
  { name: 'hypercorn', isHere: () => findHypercorn() !== null, start: startHypercorn },
]

/**
 * Sends {@link REQUESTS} requests over HTTP/2 to each installed gateway, {@link IN_FLIGHT} of them in flight,
 * and counts answers, answers to another request, other outcomes, and connections. `SLUICE_HYPERCORN` names a
 * hypercorn that is not on the path.
 */
export async function runHttp2Bench(): Promise<void> {
  for (const gateway of GATEWAYS) {
    if (gateway.isHere()) await measure(gateway)
    else console.log(`${gateway.name}: not installed`)
  }
}

async function measure(gateway: Gateway): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const { cert, key } = await createCertificate({ ip: '127.0.0.1' })
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  // HAProxy needs both in one file.
  writeFileSync(join(folder, 'both.pem'), `${cert}\n${key}`)
  const port = await findFreePort()
  const child = gateway.start({ folder, port, certFile, keyFile })
  try {
    await waitUntilListening(port)
    const { counts, connections, seconds } = await sendAll(`https://127.0.0.1:${port}`, certFile)
    const rate = Math.round(REQUESTS / seconds)
    console.log(`${gateway.name}: ${JSON.stringify(counts)}, ${connections} at once, ${rate}/s`)
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function sendAll(baseUrl: string, caFile: string) {
  const apiKey = ApiKey.create('bench-key', { baseUrl }, 'of the benchmark')
  const createClient = createServiceClients({
    baseUrl,
    connection: { timeoutMs: 30_000, tls: { caFile } },
    readApiKey: () => apiKey,
    userAgent: 'sluice/bench',
    httpVersion: '2',
  })
  const counts: Record<string, number> = {}
  let sent = 0
  let connections = 0
  const startMs = performance.now()
  const port = new URL(baseUrl).port
  const watch = setInterval(() => {
    connections = Math.max(connections, countConnections(port))
  }, 100)
  const runLane = async (): Promise<void> => {
    const client = createClient()
    while (sent < REQUESTS) {
      sent += 1
      const path = `/row/${sent}`
      const exchange = await new Promise<Exchange>((resolve) =>
        client.send({ method: 'POST', path, body: '{"text_data":"hello"}', isAnonymous: false }, resolve),
      )
      const kind = toKind(exchange, path)
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    await client.destroy()
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, runLane))
  clearInterval(watch)
  return { counts, connections, seconds: (performance.now() - startMs) / 1000 }
}

function toKind(exchange: Exchange, path: string): string {
  if (exchange.kind === 'breakdown') return `${exchange.sent ? 'unknown' : 'failed'} ${exchange.code}`
  if (exchange.status !== 200) return `status ${exchange.status}`
  return exchange.body === JSON.stringify({ path }) ? 'answered' : "another request's answer"
}

/** Open connections to a port on this side, from the system's table. */
function countConnections(port: string): number {
  const { stdout } = spawnSync('ss', ['-Htn', 'state', 'established', `dport = :${port}`], {
    encoding: 'utf8',
  })
  return stdout.split('\n').filter((line) => line !== '').length
}

function startNginx({ folder, port, certFile, keyFile }: Place, extra: string): ChildProcess {
  const file = join(folder, 'nginx.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  )
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http { access_log off; ${paths.join(' ')} ${extra}
  server { listen 127.0.0.1:${port} ssl http2; ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};
    default_type application/json; location / { return 200 '{"path":"$request_uri"}'; } } }`,
  )
  return spawn('nginx', ['-c', file, '-p', folder, '-e', join(folder, 'start.log')], { stdio: 'inherit' })
}

function startHaproxy({ folder, port }: Place): ChildProcess {
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  maxconn 4096
  stats socket ${folder}/admin.sock
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
frontend all
  bind 127.0.0.1:${port} ssl crt ${folder}/both.pem alpn h2
  stick-table type ip size 1k expire 1m store conn_cur
  tcp-request connection track-sc0 src
  tcp-request connection reject if { sc0_conn_cur gt 16 }
  http-request return status 200 content-type application/json lf-string '{"path":"%[path]"}'
`,
  )
  return spawn('haproxy', ['-f', file, '-db'], { stdio: 'inherit' })
}

function startCaddy({ folder, port, certFile, keyFile }: Place): ChildProcess {
  const file = join(folder, 'Caddyfile')
  writeFileSync(
    file,
    `{
  admin off
  auto_https off
  log {
    output discard
  }
}
https://127.0.0.1:${port} {
  tls ${certFile} ${keyFile}
  header content-type application/json
  respond \`{"path":"{http.request.uri.path}"}\`
}
`,
  )
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  return spawn('caddy', ['run', '--config', file], { stdio: ['ignore', 'ignore', 'ignore'], env })
}

function startGo({ folder, port, certFile, keyFile }: Place): ChildProcess {
  const binary = join(folder, 'echo')
  const built = spawnSync('go', ['build', '-o', binary, join(import.meta.dirname, 'gateways', 'echo.go')])
  if (built.status !== 0) throw new Error(`go build ended with ${built.status}: ${built.stderr}`)
  return spawn(binary, [String(port), certFile, keyFile], { stdio: ['ignore', 'ignore', 'ignore'] })
}

function findHypercorn(): string | null {
  return process.env['SLUICE_HYPERCORN'] ?? (isInstalled('hypercorn') ? 'hypercorn' : null)
}

function startHypercorn({ port, certFile, keyFile }: Place): ChildProcess {
  const flags = ['--bind', `127.0.0.1:${port}`, '--certfile', certFile, '--keyfile', keyFile]
  return spawn(findHypercorn() ?? 'hypercorn', [...flags, '--log-level', 'error', 'echo_asgi:app'], {
    cwd: join(import.meta.dirname, 'gateways'),
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  })
}
