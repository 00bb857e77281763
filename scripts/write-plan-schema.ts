// `npm run plan-schema`: regenerates the published schema of plan files.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toPlanJsonSchema } from '../src/shared/plan/file/plan-file-schema.ts'

const file = join(import.meta.dirname, '..', 'docs', 'plan.schema.json')
writeFileSync(file, `${JSON.stringify(toPlanJsonSchema(), null, 2)}\n`)
process.stdout.write(`${file}\n`)
