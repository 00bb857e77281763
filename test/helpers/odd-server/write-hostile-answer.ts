import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createDraw } from '../seeded-draw.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const MIB = 1024 * 1024

/** Most bytes of one answer: far beyond any limit of the client, but still bounded. */
const SENT_MAX_BYTES = 64 * MIB

/** Interval of a slow answer's pieces, milliseconds. */
const DRIP_MS = 5

const ZEROS = Buffer.alloc(32 * MIB)
const BOMBS = { gzip: gzipSync(ZEROS), br: brotliCompressSync(ZEROS) }
const NESTED = Buffer.from('['.repeat(8 * MIB))
const OBJECTS = Buffer.from(`[${'{},'.repeat(4 * MIB)}{}]`)

/** Writes pieces as long as the client accepts them. */
function pour(socket: Socket, piece: string | Buffer): void {
  let sent = 0
  const go = (): void => {
    while (!socket.destroyed && sent < SENT_MAX_BYTES) {
      sent += piece.length
      if (!socket.write(piece)) {
        socket.once('drain', go)
        return
      }
    }
  }
  go()
}

function drip(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), DRIP_MS)
  socket.once('close', () => clearInterval(timer))
}

function sendWhole(socket: Socket, headers: string, body: Buffer): void {
  socket.write(`${OK}${headers}content-length: ${body.length}\r\n\r\n`)
  socket.write(body)
}

/**
 * Ways to answer, grouped by what they attack: correct, slow, endless, in tiny pieces, larger than they seem.
 */
const ANSWERS: readonly ((socket: Socket, draw: () => number, postId: string) => void)[] = [
  // Correct, so that the run continues and connections are reused between attacks.
  (socket, _, postId) => sendWhole(socket, '', Buffer.from(JSON.stringify({ task_id: `task-${postId}` }))),
  (socket, _, postId) =>
    sendWhole(
      socket,
      'content-encoding: gzip\r\n',
      gzipSync(JSON.stringify({ task_id: `task-${postId}`, triggered_rules: [] })),
    ),
  // Slow and never finished.
  (socket) => drip(socket, 'H'),
  (socket) => {
    socket.write(CHUNKED)
    drip(socket, '1\r\nx\r\n')
  },
  () => {},
  // Endless.
  (socket) => pour(socket, 'HTTP/1.1 102 Wait\r\n\r\n'.repeat(500)),
  (socket) => pour(socket, '\r\n'.repeat(5_000)),
  (socket) => pour(socket, `${OK}${'x-a: b\r\n'.repeat(1_000)}`),
  (socket) => {
    socket.write(`${CHUNKED}0\r\n`)
    pour(socket, 'x-a: b\r\n'.repeat(1_000))
  },
  (socket) => {
    socket.write(`${OK}\r\n`)
    pour(socket, Buffer.alloc(64 * 1024, 'x'))
  },
  (socket) => {
    socket.write(`${CHUNKED}1;`)
    pour(socket, 'x'.repeat(10_000))
  },
  // Tiny chunks, also with extensions.
  (socket) => {
    socket.write(CHUNKED)
    pour(socket, '1\r\nx\r\n'.repeat(2_000))
  },
  (socket) => {
    socket.write(CHUNKED)
    pour(socket, `1;a=${'b'.repeat(50)}\r\nx\r\n`.repeat(200))
  },
  // As large as allowed, or nearly, and held open.
  (socket, draw) => {
    const length = Math.floor(draw() * 16 * MIB)
    socket.write(`${OK}content-length: ${length + 1}\r\n\r\n`)
    socket.write(ZEROS.subarray(0, length))
  },
  (socket) => sendWhole(socket, '', NESTED),
  (socket) => sendWhole(socket, '', OBJECTS),
  (socket) => socket.write(`${OK}content-length: 999999999999999\r\n\r\n`),
  // Bombs.
  (socket) => sendWhole(socket, 'content-encoding: gzip\r\n', BOMBS.gzip),
  (socket) => sendWhole(socket, 'content-encoding: br\r\n', BOMBS.br),
  (socket) => sendWhole(socket, 'content-encoding: gzip, gzip\r\n', gzipSync(BOMBS.gzip)),
  (socket) => sendWhole(socket, 'content-encoding: no-such-coding\r\n', Buffer.from('x')),
  // Cut, broken or doubled.
  (socket, _, postId) => {
    sendWhole(socket, '', Buffer.from(JSON.stringify({ task_id: `task-${postId}` })))
    socket.write(`${OK}content-length: 20\r\n\r\n{"task_id": "stray"}`)
  },
  (socket) => {
    socket.write(`${OK}content-length: 100\r\n\r\n{"task_id`)
    socket.end()
  },
  (socket, draw) => socket.write(Buffer.from(Array.from({ length: 2_000 }, () => Math.floor(draw() * 256)))),
  (socket) => socket.resetAndDestroy(),
]

let draw: (() => number) | null = null

/** Answers a request in a random way; the same seed gives the same sequence of ways. */
export function writeHostileAnswer(socket: Socket, postId: string, seed: number): void {
  draw ??= createDraw(seed)
  const current = draw
  ANSWERS[Math.floor(current() * ANSWERS.length)]?.(socket, current, postId)
}
