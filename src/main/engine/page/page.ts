import { createHash } from 'node:crypto'
import { html, type Markup, toStyle } from './markup.ts'

/** The style sheet of a report: light and dark by the reader's choice, and fit to be printed. */
const PAGE_STYLE = `
:root{color-scheme:light dark;--page:#fff;--ink:#1c2126;--soft:#59636e;--rule:#d8dee4;--panel:#f6f8fa;--blue:#0b64c0;--amber:#8a5a00;--red:#b3261e;--green:#1a6b33;--violet:#6b3fa0;--warn:#fff4d6;--warn-rule:#c58a00;--shade:rgba(197,138,0,.28)}
@media (prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e9ee;--soft:#9aa5b1;--rule:#333c46;--panel:#1c2228;--blue:#6cb2ff;--amber:#f0b84a;--red:#ff8a80;--green:#79d492;--violet:#c3a1f2;--warn:#33290f;--warn-rule:#d99e1f;--shade:rgba(217,158,31,.3)}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1040px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:26px;line-height:1.25;margin:0 0 8px;overflow-wrap:anywhere}
h2{font-size:18px;margin:32px 0 10px}
p{margin:0 0 8px}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
p,li,h2{overflow-wrap:anywhere}
bdi,td code{overflow-wrap:anywhere}
tbody th code{white-space:nowrap}
.about,.plan,.unit,.meaning,.none,.card-note,caption,.notes{color:var(--soft)}
.plan{margin-top:8px}
.meaning{display:block;font-weight:400;font-size:13px}
.notice{margin:14px 0;padding:12px 16px;border:1px solid var(--rule);border-inline-start:4px solid var(--blue);background:var(--panel)}
.notice p:last-child{margin:0}
.notice h2{margin:0 0 4px;font-size:16px}
.notice ul{margin:4px 0 0;padding-inline-start:20px}
.notice.warn{border-color:var(--warn-rule);background:var(--warn)}
.ok{color:var(--green);font-weight:600}
.bad{color:var(--red);font-weight:600}
.sentence{font-size:16px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));padding:0 1px 1px 0}
.card{border:1px solid var(--rule);margin:0 -1px -1px 0;padding:10px 12px}
.card p{margin:0}
.card-title,.card-note{font-size:13px}
.card-value{font-size:22px;font-variant-numeric:tabular-nums}
.notes{margin:10px 0 0;padding-inline-start:20px;font-size:14px}
.scroll{overflow-x:auto;margin-top:12px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:start;padding:0 0 6px;font-size:13px}
th,td{padding:5px 10px;border-top:1px solid var(--rule);text-align:start;vertical-align:top}
thead td{border-top:0}
thead th{border-top:0;color:var(--soft);font-weight:500}
tbody th{font-weight:500}
td.text{min-width:14ch}
tbody th.text{min-width:12ch}
.number{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:0 24px;margin:12px 0 0;font-size:14px}
.facts div{display:flex;flex-wrap:wrap;gap:0 12px;justify-content:space-between;border-top:1px solid var(--rule);padding:5px 0}
.facts dt{color:var(--soft);white-space:nowrap}
.facts dd{margin:0 0 0 auto;text-align:end}
figure{margin:16px 0 0}
figcaption{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline;font-size:14px}
.title{font-weight:600}
.unit{font-size:13px}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;margin-inline-start:auto;font-size:13px}
.key{display:inline-flex;align-items:center;gap:6px}
.key svg{width:24px;height:8px}
figure>svg{display:block;width:100%;height:auto;margin-top:4px}
@media screen and (max-width:700px){figure{overflow-x:auto}figure>svg{min-width:760px}}
.grid{stroke:var(--rule);stroke-width:1;fill:none}
.tick{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.end{text-anchor:end}
.middle{text-anchor:middle}
.line{fill:none;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round;stroke:var(--ink)}
.median{stroke:var(--blue)}
.upper{stroke:var(--violet);stroke-dasharray:6 3}
.tail{stroke:var(--red);stroke-width:2.25}
.scheduled{stroke:var(--soft);stroke-dasharray:2 4}
.sent{stroke:var(--blue)}
.succeeded{stroke:var(--green);stroke-dasharray:8 3}
.unsuccessful{stroke:var(--red);stroke-width:2.25}
.dropped{stroke:var(--amber);stroke-dasharray:3 3}
.limited{fill:var(--shade)}
.strip{fill:transparent}
.strip:hover{fill:var(--rule);fill-opacity:.45}
.bar{fill:var(--blue)}
.bar:hover{fill:var(--violet)}
.share{display:block;width:100%;min-width:80px;max-width:260px;height:10px;margin-top:6px}
.rest{fill:var(--rule);fill-opacity:.5}
.part{fill:var(--blue)}
.part.good{fill:var(--green)}
.part.bad{fill:var(--red)}
.part.warn{fill:var(--amber)}
.part.odd{fill:var(--violet)}
.part.quiet{fill:var(--soft)}
.cell{display:block}
.scroll+.about{margin-top:8px}
.mark{stroke:var(--ink);stroke-width:1;stroke-dasharray:3 2}
.mark-label{fill:var(--ink);font-size:11px;paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
footer{margin-top:40px;padding-top:12px;border-top:1px solid var(--rule);color:var(--soft);font-size:13px}
@media print{:root{color-scheme:light;--page:#fff;--ink:#000;--soft:#444;--rule:#bbb;--panel:#f4f4f4;--blue:#0b64c0;--amber:#8a5a00;--red:#b3261e;--green:#1a6b33;--violet:#6b3fa0;--warn:#fff;--warn-rule:#8a5a00;--shade:rgba(0,0,0,.14)}
@page{margin:14mm}body{font-size:11px}.cards{grid-template-columns:repeat(auto-fit,minmax(100px,1fr))}.card{padding:7px 9px}.card-value{font-size:16px}table,.facts,.notes,figcaption,code{font-size:10.5px}.card-title,.card-note,.meaning,caption,.unit,.legend,footer{font-size:9.5px}th,td{padding:3px 7px}.sentence{font-size:12px}.facts{grid-template-columns:repeat(3,1fr)}h2{font-size:15px}main{max-width:none;padding:0}h2{break-after:avoid;margin-top:18px}figure,tr,.notice,.card,.short{break-inside:avoid}.strip{display:none}.scroll{overflow:visible}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`

/**
 * A report as one page that opens anywhere without a network: no script, nothing to load, and a policy that
 * allows only its own style sheet.
 */
export function formatPage({
  title,
  sections,
  footer,
}: {
  title: string
  sections: readonly Markup[]
  /** How the figures come about. */
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
