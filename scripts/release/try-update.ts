// npm run release:try-update -- FROM TO: for workflows, after npm run package -- --update-trial has packed
// both versions. Starts the packed app, has it update itself from one version to the other, and reads the new
// version from its page. Refused on macOS, which only updates signed apps.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UPDATE_TRIAL_PORT } from './packaging.ts'
import { listInstallerNames } from './release-files.ts'
import { tryUpdate } from './update-trial.ts'

const DIST = join(import.meta.dirname, '../../dist')
const STEP_MS = 120_000

const [from = '', to = '', ...others] = process.argv.slice(2)
const system = process.platform === 'win32' ? 'win' : 'linux'
const processor = process.arch === 'arm64' ? 'arm64' : 'x64'
if (from === '' || to === '' || others.length > 0 || process.platform === 'darwin') {
  process.stderr.write('usage, on Linux and Windows: npm run release:try-update -- FROM TO\n')
  process.exit(2)
}

function findInstaller(version: string): string {
  const ending = system === 'win' ? 'exe' : 'AppImage'
  const found = listInstallerNames(version).find(
    (one) => one.system === system && one.processor === processor && one.ending === ending,
  )
  return join(DIST, found?.name ?? '')
}

/** Installs the first version as a person would; returns the program to start. */
function install(folder: string): string {
  if (system === 'win') {
    execFileSync(findInstaller(from), ['/S', `/D=${join(folder, 'Sluice')}`])
    return join(folder, 'Sluice', 'Sluice.exe')
  }
  const program = join(folder, 'Sluice.AppImage')
  cpSync(findInstaller(from), program)
  chmodSync(program, 0o755)
  return program
}

// Both commands wait for the dialog. Its questions have two buttons, and the focus is on the other one,
// Later.
const PRESS_ON_LINUX = [
  'search',
  '--sync',
  '--onlyvisible',
  '--name',
  '^Updates$',
  'windowfocus',
  '--sync',
  'key',
  'Tab',
  'key',
  'space',
]
const PRESS_ON_WINDOWS = `
  Add-Type -AssemblyName UIAutomationClient, UIAutomationTypes
  $named = New-Object Windows.Automation.PropertyCondition([Windows.Automation.AutomationElement]::NameProperty, $env:BUTTON)
  for ($tries = 0; $tries -lt 240; $tries++) {
    $button = [Windows.Automation.AutomationElement]::RootElement.FindFirst('Descendants', $named)
    if ($button) { $button.GetCurrentPattern([Windows.Automation.InvokePattern]::Pattern).Invoke(); exit 0 }
    Start-Sleep -Milliseconds 500
  }
  exit 1`

async function press(button: string): Promise<void> {
  const options = { timeout: STEP_MS, env: { ...process.env, BUTTON: button }, stdio: 'inherit' as const }
  if (system === 'linux') execFileSync('xdotool', PRESS_ON_LINUX, options)
  else execFileSync('pwsh', ['-NoProfile', '-Command', PRESS_ON_WINDOWS], options)
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-update-'))
try {
  await tryUpdate({
    program: install(folder),
    from,
    to,
    installer: findInstaller(to),
    system,
    processor,
    press,
    port: UPDATE_TRIAL_PORT,
    userData: join(folder, 'user-data'),
    say: (line) => void process.stdout.write(`${line}\n`),
    withinMs: STEP_MS,
  })
} catch (error) {
  process.stderr.write(`release:try-update: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  // The updated app may still hold its files for a while.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
process.exit()
