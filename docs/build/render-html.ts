import { Marked, type RendererObject } from 'marked'
import { pageFiles } from './contents.ts'
import { parseCodeBlock, createSlugger, type CodeBlock } from './page-outline.ts'
import { isExternalLink, relativeLink, pagePathOf } from './page-path.ts'
import path from 'node:path'

/** Returns the HTML body of a page. HTML markup in the Markdown is escaped. */
export function renderHtml(file: string, markdown: string): string {
  return new Marked({ renderer: createRenderer(file) }).parse(markdown, { async: false })
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
      const { language, attributes, text } = parseCodeBlock(token)
      // The block scrolls horizontally, so it must be focusable by keyboard.
      return `<pre tabindex="0" class="${escapeHtml(language)}"><code>${escapeHtml(text)}</code></pre>\n${expectedOutput(attributes)}`
    },
    table({ header, rows }) {
      const line = (cells: typeof header): string =>
        `<tr>${cells
          .map(({ header: isHead, text, tokens }) => {
            // Screen readers announce header cells, so an empty one is a data cell.
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
      // A real checkbox would be a form control without a label.
      return '<span aria-hidden="true">☐</span> '
    },
    html({ text }) {
      return escapeHtml(text)
    },
  }
}

/** Returns the output that the documentation test expects from the block. */
function expectedOutput({ prints, error }: CodeBlock['attributes']): string {
  const text = error ?? prints
  return text === undefined
    ? ''
    : `<p class="expected">Prints <code>${escapeHtml(text)}</code>.</p>\n`
}

/** Converts links between pages. Links to source files stay as they are on GitHub. */
function hrefOf(file: string, href: string): string {
  if (isExternalLink(href) || href.startsWith('#')) return href
  const [linkPath = '', anchor] = href.split('#')
  const target = path.posix.join(path.posix.dirname(file), linkPath)
  const page = pageFiles.includes(target) ? relativeLink(file, pagePathOf(target)) : linkPath
  return anchor === undefined ? page : `${page}#${anchor}`
}
