// electron FOLDER [FILE], instead of Electron's program: runs the built app in FOLDER in Node, and shows its
// window in Chromium. Accepts Electron's options, and also prints where its debuggers listen.
import { readFileSync } from 'node:fs'
import { open as openInspector } from 'node:inspector'
import { registerHooks } from 'node:module'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

const [node = '', , ...args] = process.argv
const [folder = '.'] = args.filter((argument) => !argument.startsWith('-'))
process.argv = [node, ...args]
const standIn = new URL('electron.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : next(specifier, context),
})
if (args.includes('--inspect=0')) openInspector(0)
const { main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { main: string }
await import(pathToFileURL(resolve(folder, main)).href)
