/** An element of a small XML document. */
export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

const TOKEN =
  /<\?xml[^?]*\?>|<(?<close>\/)?(?<name>[\w-]+)(?<attributes>(?:\s+[\w-]+="[^"<]*")*)\s*(?<empty>\/)?>|(?<text>[^<]+)/gy

/** Parses XML strictly, as far as reports use it; throws if it is not well formed. */
export function readXml(text: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    at = match.index + match[0].length
    const { close, name, attributes = '', empty, text: inside } = match.groups ?? {}
    const parent = open.at(-1)
    if (parent === undefined) throw new Error(`nothing is open at ${match.index}`)
    if (inside !== undefined) parent.text += toText(inside)
    if (name === undefined) continue
    if (close !== undefined) {
      if (parent.name !== name) throw new Error(`</${name}> closes <${parent.name}>`)
      open.pop()
      continue
    }
    const element = { name, attributes: toAttributes(attributes), children: [], text: '' }
    parent.children.push(element)
    if (empty === undefined) open.push(element)
  }
  const [document] = root.children
  if (at !== text.length || open.length !== 1 || root.children.length !== 1 || document === undefined) {
    throw new Error(`not well formed at ${at}: ${text.slice(at, at + 40)}`)
  }
  return document
}

function toAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, toText(value)]),
  )
}

function toText(escaped: string): string {
  return escaped.replaceAll(/&(?:(lt|gt|amp|quot|#39);)?/g, (_, name?: string) => {
    if (name === undefined) throw new Error('an ampersand stands alone')
    return { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }[name] ?? ''
  })
}
