/** Has the browser fetch an export that waits on this page's own origin, under its name. */
export function startDownload(download: { url: string; name: string }): void {
  const link = document.createElement('a')
  link.href = download.url
  link.download = download.name
  document.body.append(link)
  link.click()
  link.remove()
}
