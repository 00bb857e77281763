import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { decodeBody } from '../../../../src/main/engine/service/answer-body.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { sendTask } from './send-task.ts'

const TEXT = JSON.stringify({ task_id: 'größe', notes: 'word '.repeat(50) })

const CODINGS: [name: string, encode: (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['Deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['gzip, identity', gzipSync],
  ['deflate,gzip', (bytes) => gzipSync(deflateSync(bytes))],
]

const decode = (bytes: Buffer, contentEncoding: string) =>
  decodeBody(bytes, { contentEncoding, contentType: 'application/json' })

test.each(CODINGS)('a body in %s is decoded', (name, encode) => {
  expect(decode(encode(Buffer.from(TEXT)), name)).toEqual({ body: TEXT })
})

test.each(CODINGS)('a truncated body in %s is never taken for a complete one', (name, encode) => {
  const bytes = encode(Buffer.from(TEXT))
  for (const length of [1, bytes.length >> 1, bytes.length - 1]) {
    expect(decode(bytes.subarray(0, length), name)).toMatchObject({
      body: '',
      bodyProblem: expect.stringMatching(/^the body is not valid \S+: it is damaged or cut$/),
    })
  }
})

test.each(['', 'identity', ' , '])('a body with the coding "%s" is not decoded', (name) => {
  expect(decode(Buffer.from(TEXT), name)).toEqual({ body: TEXT })
})

test('a body that grows too much when decoded is refused, whatever the coding', () => {
  const zeros = Buffer.alloc(20 * 1024 * 1024)
  for (const [name, encode] of CODINGS.slice(0, 6)) {
    const { body, bodyProblem } = decode(encode(zeros), name)
    expect(body).toBe('')
    expect(bodyProblem).toMatch(/^the body (grows more than 200 times|is larger than 16 MiB) when decoded/)
  }
})

test('a small body may grow more, as answers with a lot of repetition do', () => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, () => 'the same'))
  expect(decode(brotliCompressSync(text), 'br')).toEqual({ body: text })
})

test('an unknown coding is named, and so are too many', () => {
  expect(decode(Buffer.from('x'), 'gzip, dcb')).toEqual({
    body: '',
    bodyProblem: 'the body has the content coding "dcb", which Sluice cannot decode',
  })
  expect(decode(Buffer.from('x'), 'gzip, gzip, gzip, gzip')).toEqual({
    body: '',
    bodyProblem: 'the body has 4 content codings; at most 3 are decoded',
  })
})

test('every request asks for answers without a content coding, and one that comes with one is read anyway', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const body = gzipSync(JSON.stringify(toTaskAnswer(request)))
      wire.socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`)
      wire.socket.write(body)
    },
  })
  const { judgement } = await sendTask(server.baseUrl)
  expect(judgement).toMatchObject({ outcome: 'succeeded', taskId: 'task-post-1' })
  expect(server.requests[0]?.headers['accept-encoding']).toBe('identity')
})

test('an answer in an unknown coding is unknown and names it; a refusal in one stays a refusal', async () => {
  const toServer = (status: number) =>
    startFaultServer({
      onRequest: (_, wire) => wire.send(status, 'abc', { 'content-encoding': 'dcz' }),
    })
  const taken = await sendTask((await toServer(200)).baseUrl)
  expect(taken.judgement).toMatchObject({
    outcome: 'unknown',
    status: 200,
    message: 'answered 200, but the body has the content coding "dcz", which Sluice cannot decode',
  })
  const refused = await sendTask((await toServer(400)).baseUrl)
  expect(refused.judgement).toMatchObject({ outcome: 'rejected', status: 400 })
  expect(refused.judgement.message).toContain('the content coding "dcz"')
})
