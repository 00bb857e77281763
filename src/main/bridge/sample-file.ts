import { fileURLToPath } from 'node:url'

// The build puts the sample beside the bundles; from sources it stands beside the demo that has it, too.
const place = import.meta.url.endsWith('.ts') ? '../cli/demo/sample.csv' : './sample.csv'

/** Absolute path of the bundled sample. */
export const SAMPLE_FILE = fileURLToPath(new URL(place, import.meta.url))
