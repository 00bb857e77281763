import { InvalidArgumentError } from 'commander'

/** Parser of `--base-url`: an http or https address, its path prefix kept, without the trailing slash. */
export function parseBaseUrl(text: string): string {
  return parseAddress(text, 'https://api.example.com', 'put the API key in an environment variable')
}

/** Parser of `--proxy`: an http or https address. */
export function parseProxyUrl(text: string): string {
  return parseAddress(
    text,
    'http://proxy.example.com:3128',
    'put them in an environment variable and name it with --proxy-credentials-env',
  )
}

function parseAddress(text: string, sample: string, whereSecretsBelong: string): string {
  const example = `an http or https address such as ${sample}`
  if (!URL.canParse(text)) throw new InvalidArgumentError(`expected ${example}, found \`${text}\`.`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(
      `expected ${example}, without a user name or password in it; ${whereSecretsBelong}.`,
    )
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const forgotten = /^[\w.-]+:\d+/.test(text) ? ` Did you mean \`http://${text}\`?` : ''
    throw new InvalidArgumentError(`expected ${example}, found \`${text}\`.${forgotten}`)
  }
  if (url.search !== '' || url.hash !== '') {
    throw new InvalidArgumentError(`expected ${example}, without \`?\` or \`#\`, found \`${text}\`.`)
  }
  return url.href.replace(/\/+$/, '')
}
