import { Catalogue } from '../../src/main/engine/lookback/catalogue/catalogue.ts'
import { changeAnnotations } from '../../src/main/engine/workspace/run-annotations.ts'
import { listRunIds } from '../../src/main/engine/workspace/workspace-files.ts'

const [workspace = ''] = process.argv.slice(2)
const catalogue = new Catalogue(workspace)
// Writes to the catalogue repeatedly until it is killed.
for (let turn = 1; ; turn += 1) {
  for (const runId of listRunIds(workspace)) changeAnnotations(workspace, runId, { note: `turn ${turn}` })
  const { runs } = await catalogue.list({}, [])
  process.stdout.write(`${runs.length}\n`)
}
