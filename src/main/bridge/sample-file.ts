import { fileURLToPath } from 'node:url'

// The build puts the sample next to the bundles; from sources it is next to the demo that has it, too.
const place = import.meta.url.endsWith('.ts') ? '../cli/demo/sample.csv' : './sample.csv'

/** Absolute path of the bundled sample. */
export const SAMPLE_FILE = fileURLToPath(new URL(place, import.meta.url))
