import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInstalled } from './child.ts'

/** A task response of typical size, always the same, so that it does not name any request's post. */
const STATIC_BODY = JSON.stringify({
  message: 'an answer to any of the posts',
  task_id: 'a3b1c5d7-0000-4000-8000-000000000000',
  triggered_rules: [],
})

/** A server in its own process that answers every POST in the same way. */
export interface StaticServer {
  name: string
  baseUrl: string
  close(): void
}

/** Starts nginx if it is installed, else Node's own server. */
export async function startStaticServer(): Promise<StaticServer> {
  const port = await findFreePort()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const isNginx = isInstalled('nginx')
  const child = isNginx
    ? startNginx(folder, port)
    : spawn(process.execPath, [fileURLToPath(import.meta.url), String(port)], { stdio: 'inherit' })
  await waitUntilListening(port)
  return {
    name: isNginx ? 'nginx, one worker' : 'node:http',
    baseUrl: `http://127.0.0.1:${port}`,
    close() {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function startNginx(folder: string, port: number): ChildProcess {
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port} backlog=4096; default_type application/json;
    location / { return 200 '${STATIC_BODY}'; } } }`,
  )
  return spawn('nginx', ['-c', file, '-p', folder, '-e', join(folder, 'start.log')], { stdio: 'inherit' })
}

/** A port that nobody listened on a moment ago. */
export function findFreePort(): Promise<number> {
  const server = createTcpServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/** Waits until something listens on a port; throws after 20 s. */
export async function waitUntilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on port ${port} after 20 s`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(STATIC_BODY)
    })
  }).listen(Number(process.argv[2]), '127.0.0.1')
}
