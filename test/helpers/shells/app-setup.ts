import { buildPart } from '../build/build-part.ts'
import { chooseShells } from './choose-shells.ts'

/** Builds the app as the shells of this run start it; a packed app is built already. */
// biome-ignore lint/style/noDefaultExport: Vitest takes a global set-up by its default export
export default async function setUp(): Promise<void> {
  const names = chooseShells().flatMap((choice) => ('program' in choice ? [choice.name] : []))
  const needsApp = names.includes('stand-in') || names.includes('electron')
  // The bundled `sluice open` looks for the screens there, too.
  if (needsApp || names.includes('browser')) await buildPart('renderer', 'renderer')
  if (!needsApp) return
  await buildPart('preload', 'preload')
  await buildPart('main', 'desktop')
}
