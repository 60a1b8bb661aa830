import { Marked, type RendererObject } from 'marked'
import { pageFiles } from './contents.ts'
import { parseCodeBlock, createSlugger, type CodeBlock } from './page-outline.ts'
import { isExternalLink, relativeLink, pagePathOf } from './page-path.ts'
import path from 'node:path'

/** The body of a page. Markup in the text is shown as text: pages are Markdown alone. */
export function renderHtml(file: string, markdown: string): string {
  const html = new Marked({ renderer: createRenderer(file) }).parse(markdown, { async: false })
  return html
}

export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' }
  return text.replaceAll(/[&<"]/gu, (character) => names[character] ?? character)
}

function createRenderer(file: string): RendererObject {
  const slug = createSlugger()
  return {
    heading({ depth, text, tokens }) {
      const id = slug(text)
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      return `<a href="${escapeHtml(hrefOf(file, href))}">${this.parser.parseInline(tokens)}</a>`
    },
    code(token) {
      const { language, attributes: marks, text } = parseCodeBlock(token)
      // The block scrolls sideways, so the keyboard must be able to reach it.
      return `<pre tabindex="0" class="${escapeHtml(language)}"><code>${escapeHtml(text)}</code></pre>\n${expectedOutput(marks)}`
    },
    table({ header, rows }) {
      const line = (cells: typeof header): string =>
        `<tr>${cells
          .map(({ header: isHead, text, tokens }) => {
            // A heading without a word says nothing to who hears the table.
            const tag = isHead && text !== '' ? 'th' : 'td'
            return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`
          })
          .join('')}</tr>`
      const hasHead = header.some(({ text }) => text !== '')
      const head = hasHead ? `<thead>${line(header)}</thead>` : ''
      const body = `<tbody>${rows.map(line).join('\n')}</tbody>`
      return `<div class="table" tabindex="0"><table>${head}${body}</table></div>\n`
    },
    checkbox() {
      // A box to be ticked on paper; a real one would be a control without a name.
      return '<span aria-hidden="true">☐</span> '
    },
    html({ text }) {
      return escapeHtml(text)
    },
  }
}

/** What the test of the documentation holds the block to, for the reader to compare. */
function expectedOutput({ says, answers }: CodeBlock['attributes']): string {
  const text = answers ?? says
  return text === undefined
    ? ''
    : `<p class="expected">It says <code>${escapeHtml(text)}</code>.</p>\n`
}

/** Links between pages lead to pages; those to files of the source stay what they are on GitHub. */
function hrefOf(file: string, href: string): string {
  if (isExternalLink(href) || href.startsWith('#')) return href
  const [place = '', anchor] = href.split('#')
  const target = path.posix.join(path.posix.dirname(file), place)
  const page = pageFiles.includes(target) ? relativeLink(file, pagePathOf(target)) : place
  return anchor === undefined ? page : `${page}#${anchor}`
}
