import { contents } from './contents.ts'
import { escapeHtml } from './render-html.ts'
import { relativeLink, pagePathOf } from './page-path.ts'

type PageContent = {
  readonly file: string
  /** Page file → title, for all pages. */
  readonly titles: Readonly<Record<string, string>>
  /** HTML. */
  readonly body: string
}

/** Returns a complete HTML page. On narrow screens the navigation is folded. */
export function renderPage({ file, titles, body }: PageContent): string {
  const title = titles[file] ?? ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' file:; img-src 'self' file: data:">
<title>${escapeHtml(title === 'Facegate' ? title : `${title} · Facegate`)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${relativeLink(file, 'style.css')}">
</head>
<body>
<header><a href="${relativeLink(file, 'index.html')}">Facegate</a></header>
<details class="narrow"><summary>Contents</summary><nav aria-label="Contents, folded">
${navigation({ file, titles })}
</nav></details>
<nav class="wide" aria-label="Contents">
${navigation({ file, titles })}
</nav>
<main>
${body}</main>
</body>
</html>
`
}

function navigation({ file, titles }: Omit<PageContent, 'body'>): string {
  const item = (target: string): string => {
    const current = target === file ? ' aria-current="page"' : ''
    return `<li><a href="${relativeLink(file, pagePathOf(target))}"${current}>${escapeHtml(titles[target] ?? target)}</a></li>`
  }
  return contents
    .map(({ title, files }) => `<p>${title}</p>\n<ul>\n${files.map(item).join('\n')}\n</ul>`)
    .join('\n')
}
