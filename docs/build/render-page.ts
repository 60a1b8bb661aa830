import { contents } from './contents.ts'
import { escapeHtml } from './escape-html.ts'
import type { PageHeading } from './page-outline.ts'
import { relativeLink, pagePathOf } from './page-path.ts'

type PageContent = {
  readonly file: string
  /** Page file → title, for all pages. */
  readonly titles: Readonly<Record<string, string>>
  /** The sections of the page. */
  readonly headings: readonly PageHeading[]
  /** HTML. */
  readonly body: string
}

/** A site that is opened from the disk has no origin: its files need `file:`. */
const policy =
  "default-src 'none'; script-src 'self' file:; connect-src 'self'; style-src 'self' file:; img-src 'self' file: data:"

/**
 * Returns a complete HTML page. On narrow screens the list of all pages is below the text. The search
 * needs the script, which shows it.
 */
export function renderPage({ file, titles, headings, body }: PageContent): string {
  const title = titles[file] ?? ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title === 'Facegate' ? title : `${title} · Facegate`)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${relativeLink(file, 'style.css')}">
<script src="${relativeLink(file, 'site.js')}" defer></script>
</head>
<body>
<header>
<a class="skip" href="#content">Skip to the text</a>
<a class="home" href="${relativeLink(file, 'index.html')}">Facegate</a>
<a class="narrow" href="#contents">All pages</a>
<div class="search" role="search" hidden>
<label for="query">Search the documentation</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Search ( / )">
<div id="results" hidden><p role="status"></p><ol></ol></div>
</div>
</header>
${outline(headings)}<main id="content" tabindex="-1">
${body}</main>
<nav id="contents" aria-label="Contents">
${navigation({ file, titles })}
</nav>
</body>
</html>
`
}

/** The list of the sections. The script opens it where there is space beside the text. */
function outline(headings: readonly PageHeading[]): string {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (listed.length < 2) return ''
  const items = listed.map(
    ({ depth, text, anchor }) =>
      `<li class="depth-${depth}"><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`,
  )
  return `<nav class="outline" aria-label="On this page"><details><summary>On this page</summary>
<ul>
${items.join('\n')}
</ul></details></nav>
`
}

function navigation({ file, titles }: Pick<PageContent, 'file' | 'titles'>): string {
  const item = (target: string): string => {
    const current = target === file ? ' aria-current="page"' : ''
    return `<li><a href="${relativeLink(file, pagePathOf(target))}"${current}>${escapeHtml(titles[target] ?? target)}</a></li>`
  }
  return contents
    .map(({ title, files }) => `<p>${title}</p>\n<ul>\n${files.map(item).join('\n')}\n</ul>`)
    .join('\n')
}
