import { buildPart } from '../build/build-part.ts'
import { chooseShells } from './choose-shells.ts'

/** Builds the app for the shells of this run; a packed app is already built. */
// biome-ignore lint/style/noDefaultExport: Vitest takes a global set-up by its default export
export default async function setUp(): Promise<void> {
  const names = chooseShells().flatMap((choice) => ('program' in choice ? [choice.name] : []))
  const needsApp = names.includes('stand-in') || names.includes('electron')
  // The bundled `sluice open` also looks for the screens there.
  if (needsApp || names.includes('browser')) await buildPart('renderer', 'renderer')
  if (!needsApp) return
  await buildPart('preload', 'preload')
  await buildPart('main', 'desktop')
}
