import { fastify } from 'fastify'
import { InboxReader } from '../../src/main/engine/receiver/inbox.ts'
import { MACHINE_CLOCK, Receiver } from '../../src/main/engine/receiver/receiver.ts'
import { RECEIVER_LIMITS } from '../../src/main/engine/receiver/receiver-limits.ts'
import { createReceiverServer } from '../../src/main/engine/receiver/receiver-server.ts'
import { readReceiverSettings } from '../../src/main/engine/receiver/receiver-settings.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { withFolder } from '../lib/workspace.ts'

/** `durable` is the real receiver, `nothing` the same without the inbox, `bare` a minimal Fastify server. */
const { kind } = JSON.parse(process.argv[2] ?? '') as { kind: 'durable' | 'nothing' | 'bare' }

/** Reports where it listens, and returns the number of stored callbacks when the parent is done. */
type Serve = (listening: (baseUrl: string, secret: string) => Promise<void>) => Promise<number>

const serveDurably: Serve = (listening) =>
  withFolder(async (workspace) => {
    const { secret } = readReceiverSettings(workspace)
    let baseUrl = ''
    const receiver = new Receiver({ workspace }, (standing) => {
      baseUrl = standing.baseUrl
    })
    await receiver.start()
    await listening(baseUrl, secret)
    await receiver.close()
    const reader = new InboxReader(workspace)
    const { received } = reader.readCounts()
    reader.close()
    return received
  })

const SECRET = '07'.repeat(32)

const serveNothing: Serve = async (listening) => {
  const app = createReceiverServer({
    secret: SECRET,
    limits: RECEIVER_LIMITS,
    store: (_entry, stored) => stored(null),
    countRefusal: () => {},
    countProbe: () => {},
    findFolder: async () => null,
    nowUs: MACHINE_CLOCK.nowUs,
  })
  await listening(await app.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }), SECRET)
  await app.close()
  return 0
}

const serveBare: Serve = async (listening) => {
  const app = fastify({ logger: false })
  app.post('/callback/:runToken/:item/:mac', (_request, reply) => {
    reply.send({ status: 'received' })
  })
  await listening(await app.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }), SECRET)
  await app.close()
  return 0
}

const serve = { durable: serveDurably, nothing: serveNothing, bare: serveBare }[kind]
let cpuMicroseconds = 0
const stored = await serve(async (baseUrl, secret) => {
  const before = process.cpuUsage()
  console.log(JSON.stringify({ baseUrl, secret }))
  await new Promise((resolve) => process.stdin.resume().once('end', resolve))
  const { user, system } = process.cpuUsage(before)
  cpuMicroseconds = user + system
})
reportToParent({ stored, cpuMicroseconds })
