import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

// The build puts the sample beside the bundles; from sources it stands beside the demo that has it, too.
const place = import.meta.url.endsWith('.ts') ? '../cli/demo/sample.csv' : './sample.csv'

/** Absolute path of the bundled sample. */
export const SAMPLE_FILE = fileURLToPath(new URL(place, import.meta.url))

/** The bundled sample as a source that a person could have chosen. */
export async function describeSample(): Promise<{ path: string; name: string; sizeBytes: number }> {
  const { size } = await stat(SAMPLE_FILE)
  return { path: SAMPLE_FILE, name: basename(SAMPLE_FILE), sizeBytes: size }
}
