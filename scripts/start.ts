// `npm start`: the desktop window if Electron is installed, otherwise the same screens in the browser.
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { isFresh } from '../src/main/web/is-fresh.ts'
import { findElectron } from './find-electron.ts'

const project = resolve(import.meta.dirname, '..')
const inProject = (path: string) => join(project, path)

/** Runs a program in this terminal; resolves with its exit code. */
function run(program: string, args: readonly string[]): Promise<number> {
  return new Promise((settle, fail) => {
    const child = spawn(program, args, { stdio: 'inherit' })
    const pass = (signal: NodeJS.Signals) => child.kill(signal)
    // The terminal sends Ctrl-C to the child directly, which ends in its own way; this process waits for it.
    const wait = () => {}
    process.on('SIGINT', wait)
    process.on('SIGTERM', pass)
    process.on('SIGHUP', pass)
    child.once('error', fail)
    child.once('exit', (code) => {
      process.off('SIGINT', wait)
      process.off('SIGTERM', pass)
      process.off('SIGHUP', pass)
      settle(code ?? 1)
    })
  })
}

async function openWindow(electron: string): Promise<number> {
  const ingredients = ['src', 'electron.vite.config.ts', 'package-lock.json'].map(inProject)
  const products = ['out/main/main.js', 'out/preload/preload.cjs', 'out/renderer/index.html'].map(inProject)
  const fresh = await Promise.all(products.map((product) => isFresh(product, ingredients)))
  if (fresh.includes(false)) {
    process.stderr.write('Building Sluice, then opening its window…\n')
    const built = await run(process.execPath, [
      inProject('node_modules/electron-vite/bin/electron-vite.js'),
      'build',
    ])
    if (built !== 0) return built
  }
  return run(electron, [project, ...process.argv.slice(2)])
}

function openBrowser(why: string): Promise<number> {
  process.stderr.write(`${why}, so the same screens open in the browser.\n`)
  return run(process.execPath, [inProject('src/main/cli/main.ts'), 'open', ...process.argv.slice(2)])
}

const electron = findElectron(inProject('node_modules/electron'), process.env)
process.exitCode = await ('program' in electron ? openWindow(electron.program) : openBrowser(electron.why))
