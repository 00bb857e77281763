// `npm run seen-by-scripts`: records what scripts see of this version, as the base for later comparisons.
import { writeFileSync } from 'node:fs'
import { collectSeenByScripts, SEEN_FILE } from '../test/seen-by-scripts/seen-by-scripts.ts'

writeFileSync(SEEN_FILE, `${JSON.stringify(await collectSeenByScripts(), null, 2)}\n`)
process.stdout.write(`${SEEN_FILE}\n`)
