import { takeLease } from '../../src/main/engine/workspace/lease.ts'

const [file = ''] = process.argv.slice(2)
// A lease that nobody refers to would be let go by the garbage collector.
const lease = takeLease(file, 'the file of the test')
process.on('exit', () => lease.release())
process.stdout.write('taken\n')
// A process with a timer lives until it is killed.
setInterval(() => {}, 60_000)
