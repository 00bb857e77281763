import { SluiceError } from '../../shared/messages/errors.ts'
import type { BridgeHost } from '../bridge/bridge-context.ts'
import type { Downloads } from './downloads.ts'

/** The browser's rules: exports are fetched, and `askProduction` asks on a page of its own origin. */
export function createBrowserHost(
  downloads: Downloads,
  askProduction: BridgeHost['askProduction'],
): BridgeHost {
  return {
    platform: 'browser',
    askProduction,
    async placeExport({ targetId, name }) {
      if (targetId === undefined) return downloads.place(name)
      throw new SluiceError({ id: 'export_into_browser' })
    },
  }
}
