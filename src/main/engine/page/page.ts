import { createHash } from 'node:crypto'
import { html, type Markup, toStyle } from './markup.ts'
import { PAGE_STYLE } from './page-style.ts'

/**
 * A report as one page that opens anywhere without a network: it holds no script, loads nothing, and its policy
 * allows only its own style sheet.
 */
export function formatPage({
  title,
  sections,
  footer,
}: {
  title: string
  sections: readonly Markup[]
  /** What has to be known of how the figures come about. */
  footer: string
}): string {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
${toStyle(PAGE_STYLE)}
</head>
<body>
<main>
${sections.map(
  (section) => html`${section}
`,
)}<footer>
<p>${footer}</p>
</footer>
</main>
</body>
</html>
`
  return `<!doctype html>\n${page.markup}`
}
