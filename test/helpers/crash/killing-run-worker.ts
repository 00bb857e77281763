import { startRunWorker } from '../../../src/main/engine/session/start-run-worker.ts'

/** `before:12` or `after:12`: the process kills itself right before or after the run's twelfth commit. */
const [when, number] = (process.env['CRASH_AT_COMMIT'] ?? '').split(':')

startRunWorker((at, commit) => {
  if (at === when && commit === Number(number)) process.kill(process.pid, 'SIGKILL')
})
