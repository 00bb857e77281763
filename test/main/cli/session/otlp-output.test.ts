import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openOtlpOutput } from '../../../../src/main/cli/session/otlp-output.ts'
import type { StreamedSecond } from '../../../../src/shared/load/streamed-second.ts'
import { METRIC, SUM, walkProtobuf } from './otlp-message.ts'

const START_MS = 1_700_000_000_000

const toSecond = (runId: string, second: number): StreamedSecond => ({
  runId,
  startMs: START_MS + second * 1_000,
  second,
  scheduled: null,
  sent: 3,
  ended: { succeeded: 3, rejected: 0, failed: 0, unknown: 0 },
  statuses: [{ status: 200, requests: 3 }],
  iterations: 3,
  sentBytes: 900,
  receivedBytes: 1_200,
  dropped: 0,
  inFlight: 1,
  isGeneratorLimited: false,
  latencyMs: {},
  buckets: {},
})

/** A receiver that answers when it is let. */
async function startReceiver() {
  const held: ServerResponse[] = []
  const bodies: Buffer[] = []
  let isOpen = false
  let onFirst = () => {}
  const first = new Promise<void>((resolve) => {
    onFirst = resolve
  })
  const accept = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks))
      if (isOpen) accept(response)
      else held.push(response)
      onFirst()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    first,
    release() {
      isOpen = true
      for (const response of held.splice(0)) accept(response)
    },
    /** The requests that each export counts, and when it ends. */
    read: () => bodies.map(readExport),
  }
}

function readExport(body: Buffer) {
  let name = ''
  let requests = 0
  let endMs = 0
  for (const [path, value] of walkProtobuf(body)) {
    if (typeof value === 'number') continue
    if (path === `${METRIC}/1`) name = value.toString()
    if (name !== 'http_reqs') continue
    if (path === `${SUM}/3`) endMs = Number(value.readBigUInt64LE() / 1_000_000n)
    if (path === `${SUM}/6`) requests = Number(value.readBigInt64LE())
  }
  return { run: /run-[ab]/.exec(body.toString('latin1'))?.[0], requests, endMs }
}

it('sends the last totals of a run, though the next begins while an export is under way', async () => {
  const receiver = await startReceiver()
  const output = openOtlpOutput(receiver.url, '1.0.0')
  output.take(toSecond('run-a', 0))
  await receiver.first
  output.take(toSecond('run-a', 1))
  output.take(toSecond('run-b', 0))
  receiver.release()
  await output.close()
  expect(receiver.read()).toMatchObject([
    { run: 'run-a', requests: 3 },
    { run: 'run-a', requests: 6 },
    { run: 'run-b', requests: 3 },
  ])
})

it('gives a second that was cut short an end that is not in the future', async () => {
  const receiver = await startReceiver()
  receiver.release()
  const output = openOtlpOutput(receiver.url, '1.0.0', { nowMs: () => START_MS + 1_400 })
  output.take(toSecond('run-a', 0))
  output.take(toSecond('run-a', 1))
  await output.close()
  expect(receiver.read().at(0)).toMatchObject({ endMs: START_MS + 1_000 })
  expect(receiver.read().at(-1)).toMatchObject({ requests: 6, endMs: START_MS + 1_400 })
})
