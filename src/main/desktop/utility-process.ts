import process from 'node:process'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { utilityProcess } from 'electron'
import type { StartProcess } from '../own-process.ts'

/** Starts a Node process inside the app, whose own executable does not run as Node. */
export const startUtilityProcess: StartProcess = (entry, options) => {
  const child = utilityProcess.fork(fileURLToPath(entry), [], {
    execArgv: [...options],
    stdio: ['ignore', 'pipe', 'ignore'],
    serviceName: 'Sluice statement',
  })
  if (child.stdout === null) throw new Error('a utility process has a stdout')
  const kill = () => {
    try {
      // SQLite code that is running reacts to no other signal.
      if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL')
    } catch {
      child.kill()
    }
  }
  return {
    stdout: child.stdout instanceof Readable ? child.stdout : Readable.from(child.stdout),
    kill,
    send: (message) => child.postMessage(message),
    onMessage: (listener) => void child.once('message', listener),
    onEnd: (listener) => void child.once('exit', (code) => listener(`it ended with code ${code}`)),
  }
}
