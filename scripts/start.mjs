// `npm start`: the desktop window where Electron is on the disk, else the same screens in the browser.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const project = resolve(import.meta.dirname, '..')

/** Where Electron's own program is; null where it was not downloaded. Importing the package would download it. */
function findElectron() {
  let folder
  try {
    folder = dirname(createRequire(import.meta.url).resolve('electron/package.json'))
  } catch {
    return null
  }
  const pathFile = join(folder, 'path.txt')
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : null
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH
  const program =
    override === undefined || override === ''
      ? name && join(folder, 'dist', name)
      : join(override, name ?? 'electron')
  return program && existsSync(program) ? program : null
}

/** Runs a program in the project's folder with our own terminal; settles with what it exits with. */
function run(program, args) {
  return new Promise((settle, fail) => {
    const child = spawn(program, args, { cwd: project, stdio: 'inherit' })
    // The terminal sends Ctrl-C to the child as well, which ends in its own way; we wait for it.
    const pass = (signal) => child.kill(signal)
    const wait = () => {}
    process.on('SIGINT', wait)
    process.on('SIGTERM', pass)
    process.on('SIGHUP', pass)
    child.once('error', fail)
    child.once('exit', (code, signal) => settle(code ?? (signal === 'SIGINT' ? 130 : 1)))
  })
}

const electron = findElectron()
const isHeadless = process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY
if (electron === null || isHeadless) {
  const why =
    electron === null
      ? 'Electron is not on this machine (npx install-electron gets it)'
      : 'There is no display'
  process.stderr.write(`${why}, so the same screens open in the browser.\n`)
  process.exitCode = await run(process.execPath, [
    join(project, 'src/main/cli/main.ts'),
    'open',
    ...process.argv.slice(2),
  ])
} else {
  process.stderr.write('Building Sluice, then opening its window…\n')
  const built = await run(process.execPath, [
    join(project, 'node_modules/electron-vite/bin/electron-vite.js'),
    'build',
  ])
  process.exitCode = built === 0 ? await run(electron, [project]) : built
}
