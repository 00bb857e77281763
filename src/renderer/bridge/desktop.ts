import { DESKTOP_API_NAME, type DesktopApi } from '../../shared/bridge/desktop-api.ts'

/** What the desktop window gives the page; null in a browser. */
export function findDesktopApi(): DesktopApi<File> | null {
  const found: unknown = Reflect.get(window, DESKTOP_API_NAME)
  return isDesktopApi(found) ? found : null
}

function isDesktopApi(value: unknown): value is DesktopApi<File> {
  return typeof value === 'object' && value !== null && 'takeFile' in value
}
