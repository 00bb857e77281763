import { runAccuracyBench } from './accuracy.ts'
import { runCapacityBench } from './capacity.ts'
import { runDurabilityBench } from './durability.ts'
import { runEncodingsBench } from './encodings.ts'
import { runEngineBench } from './engine.ts'
import { runHttp2Bench } from './http2.ts'
import { runIntakeBench } from './intake.ts'
import { runLimitsBench } from './limits.ts'
import { runLoadBench } from './load.ts'
import { runLookbackBench } from './lookback.ts'
import { runQueryBench } from './query.ts'
import { runReceiverBench } from './receiver.ts'
import { runResendBench } from './resend.ts'
import { runRowsBench } from './rows.ts'
import { runSoakBench } from './soak.ts'
import { runThrottlingBench } from './throttling.ts'
import { runUiBench } from './ui.ts'

/** Benches by name; each prints its figures. */
const BENCHES: Record<string, (options: readonly string[]) => Promise<void>> = {
  accuracy: runAccuracyBench,
  capacity: runCapacityBench,
  durability: runDurabilityBench,
  encodings: runEncodingsBench,
  engine: runEngineBench,
  http2: runHttp2Bench,
  intake: runIntakeBench,
  limits: runLimitsBench,
  load: runLoadBench,
  lookback: runLookbackBench,
  query: runQueryBench,
  receiver: runReceiverBench,
  resend: runResendBench,
  rows: runRowsBench,
  soak: runSoakBench,
  throttling: runThrottlingBench,
  ui: runUiBench,
}

const [name = '', ...options] = process.argv.slice(2)
const bench = BENCHES[name]
if (bench === undefined) {
  console.error(`bench: expected one of ${Object.keys(BENCHES).join(', ')}, found '${name}'`)
  console.error('Run: npm run bench -- NAME')
  process.exitCode = 2
} else {
  await bench(options)
}
