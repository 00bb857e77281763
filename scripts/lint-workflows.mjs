// npm run lint:workflows: checks .github/workflows with actionlint and zizmor. No npm package provides them,
// so this is not part of npm run lint.
import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

const CHECKS = [
  {
    program: 'actionlint',
    args: ['-color'],
    install: 'go install github.com/rhysd/actionlint/cmd/actionlint@latest',
  },
  // Offline: the hashes of actions are compared with their tags when they are updated.
  {
    program: 'zizmor',
    args: ['--offline', '--persona', 'pedantic', '.github/workflows'],
    install: 'pipx install zizmor',
  },
]

// Where go and pipx install programs by default; not every shell has these folders on its PATH.
const folders = [process.env.PATH, join(homedir(), 'go', 'bin'), join(homedir(), '.local', 'bin')]
const env = { ...process.env, PATH: folders.join(delimiter) }

for (const { program, args, install } of CHECKS) {
  const cwd = resolve(import.meta.dirname, '..')
  const { error, status } = spawnSync(program, args, { cwd, env, stdio: 'inherit' })
  if (error?.code === 'ENOENT') {
    process.stderr.write(`lint:workflows: ${program} is not installed. Install it: ${install}\n`)
    process.exitCode = 2
  } else if (error || status !== 0) {
    process.stderr.write(`lint:workflows: ${program} failed${error ? `: ${error.message}` : ''}\n`)
    process.exitCode ||= 1
  }
}
