/** Scheme the built renderer is served under. */
export const APP_SCHEME = 'app'

/** Host of the one page there is. */
export const APP_HOST = 'sluice'

/** The page a window shows. */
export const APP_URL = `${APP_SCHEME}://${APP_HOST}/`

/** Scheme, host and port of a URL, also of schemes whose `origin` the URL standard leaves opaque. */
function toOrigin(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { protocol, host, username, password } = new URL(url)
  return username === '' && password === '' && host !== '' ? `${protocol}//${host}` : null
}

/** Whether a URL belongs to the page the app serves. `appUrl` is {@link APP_URL} unless a development server runs. */
export function isOwnUrl(url: string, appUrl: string): boolean {
  const origin = toOrigin(url)
  return origin !== null && origin === toOrigin(appUrl)
}
