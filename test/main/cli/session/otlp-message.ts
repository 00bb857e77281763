/**
 * Numbers and texts of a protobuf message, by their path of fields; each field that holds a message is walked
 * as one.
 */
export function* walkProtobuf(bytes: Buffer, path = ''): Generator<[path: string, value: Buffer | number]> {
  let at = 0
  const readVarint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at] ?? 0
      at += 1
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = readVarint()
    const here = `${path}/${tag >> 3}`
    if ((tag & 7) === 0) yield [here, readVarint()]
    else if ((tag & 7) === 1) {
      yield [here, bytes.subarray(at, at + 8)]
      at += 8
    } else {
      const length = readVarint()
      const inner = bytes.subarray(at, at + length)
      at += length
      yield [here, inner]
      if (MESSAGES.has(here)) yield* walkProtobuf(inner, here)
    }
  }
}

export const METRIC = '/1/2/2'
export const HISTOGRAM = `${METRIC}/9/1`
export const SUM = `${METRIC}/7/1`
/** Fields that hold messages, by opentelemetry/proto/metrics/v1/metrics.proto. */
const MESSAGES = new Set(['/1', '/1/2', METRIC, `${METRIC}/7`, `${METRIC}/9`, HISTOGRAM, SUM])
