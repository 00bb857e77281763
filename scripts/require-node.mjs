// Runs before any TypeScript is loaded, so that a Node that is too old says so instead of failing on syntax.
// Also enables the compile cache for every thread.
import { join } from 'node:path'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 18)) {
  process.stderr.write(
    `sluice: needs Node 24.18 or newer, found ${process.versions.node} at ${process.execPath}.\n` +
      'Run it with npm (npm run -s sluice -- …) after npm ci, which brings a Node that fits for Linux, macOS and\n' +
      'Windows on x64; on another system, install Node 24 or newer first, from nodejs.org.\n',
  )
  process.exit(2)
}

// Worker threads inherit the variable, which enables their cache.
const { enableCompileCache } = await import('node:module')
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'compile')
enableCompileCache(process.env.NODE_COMPILE_CACHE)
