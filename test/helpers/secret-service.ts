import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { createTemporaryFolder } from './temporary-folder.ts'

/** Why this machine cannot start its own Secret Service; null if it can. */
export function findWhyNoSecretService(): string | null {
  if (process.platform !== 'linux') return 'the Secret Service exists on Linux only'
  const missing = ['dbus-daemon', 'dbus-send', 'gnome-keyring-daemon'].filter(
    (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error !== undefined,
  )
  return missing.length === 0 ? null : `${missing.join(' and ')} not installed`
}

/** A real Secret Service with its own home, until the current test ends. */
export interface SecretService {
  /** Environment that a process needs to find it. */
  env: Record<string, string>
  /** The folder of its files. */
  home: string
  /** Restarts the service without the password, so that its keyring is locked. */
  lock(): Promise<void>
}

/** Starts a private session bus with an unlocked keyring. */
export async function startSecretService(): Promise<SecretService> {
  const home = createTemporaryFolder()
  const runtime = join(home, 'run')
  mkdirSync(runtime, { mode: 0o700 })
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_RUNTIME_DIR: runtime }
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', '--print-address'], {
    env: own,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => end(bus))
  const env = { ...own, DBUS_SESSION_BUS_ADDRESS: await readLine(bus) }
  let daemon = await startDaemon(env, ['--unlock'])
  onTestFinished(() => end(daemon))
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: env.DBUS_SESSION_BUS_ADDRESS },
    home,
    async lock() {
      await end(daemon)
      daemon = await startDaemon(env, ['--start'])
    },
  }
}

const nextTurn = promisify(setImmediate)

async function startDaemon(env: Record<string, string>, how: string[]): Promise<ChildProcess> {
  const daemon = spawn('gnome-keyring-daemon', ['--foreground', '--components=secrets', ...how], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  daemon.stdin?.end('the password of the test')
  // If called too early, the bus would start a second one.
  while (daemon.exitCode === null && !isOnBus(env)) await nextTurn()
  return daemon
}

function isOnBus(env: Record<string, string>): boolean {
  const ask = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/']
  const { stdout } = spawnSync(
    'dbus-send',
    [...ask, 'org.freedesktop.DBus.NameHasOwner', 'string:org.freedesktop.secrets'],
    { env, encoding: 'utf8' },
  )
  return stdout.includes('boolean true')
}

async function readLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('its output is not read')
  const [line] = await once(createInterface(child.stdout), 'line')
  return String(line)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
