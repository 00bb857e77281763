import { open } from 'node:fs/promises'

/** Most that is read of a video to tell its length; one that says it nowhere else would be read whole. */
const MAX_READ_BYTES = 64 * 1024 * 1024

const CACHE_BYTES = 4 * 1024 * 1024

/**
 * How long a video is, seconds, from the head or index of its file; null where that does not tell, or the container
 * is not MP4, MOV, WebM or Matroska. Never rejects.
 */
export async function readVideoLength(path: string): Promise<number | null> {
  const { CustomSource, Input, Logging, LogLevel, MATROSKA, MP4, QTFF, WEBM } = await import('mediabunny')
  // The library would write what it cannot decode to the console.
  Logging.level = LogLevel.Silent
  const handle = await open(path, 'r').catch(() => null)
  if (handle === null) return null
  let leftBytes = MAX_READ_BYTES
  const source = new CustomSource({
    getSize: async () => (await handle.stat()).size,
    read: async (start, end) => {
      leftBytes -= end - start
      if (leftBytes < 0) throw new Error('the length stands nowhere near the head or the end')
      const buffer = new Uint8Array(end - start)
      await handle.read(buffer, 0, buffer.length, start)
      return buffer
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'none',
  })
  const input = new Input({ source, formats: [MP4, QTFF, WEBM, MATROSKA] })
  try {
    const seconds = (await input.getDurationFromMetadata()) ?? (await input.computeDuration())
    return Number.isFinite(seconds) && seconds > 0 ? seconds : null
  } catch {
    return null
  } finally {
    input.dispose()
    await handle.close()
  }
}
