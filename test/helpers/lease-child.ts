import { takeLease } from '../../src/main/engine/workspace/lease.ts'

const [file = ''] = process.argv.slice(2)
// The garbage collector would release a lease without references.
const lease = takeLease(file, 'the file of the test')
process.on('exit', () => lease.release())
process.stdout.write('taken\n')
// A timer keeps the process alive until it is killed.
setInterval(() => {}, 60_000)
