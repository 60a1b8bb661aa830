import { Marked, type RendererObject } from 'marked'
import path from 'node:path'
import { pageFiles } from './contents.ts'
import { escapeHtml } from './escape-html.ts'
import { parseCodeBlock, createSlugger, type CodeBlock } from './page-outline.ts'
import {
  isExternalLink,
  relativeLink,
  pagePathOf,
  servedSitePathOf,
  sitePathOf,
} from './page-path.ts'
import { tabsExtension } from './tabs.ts'

/** Returns the HTML body of a page. HTML markup in the Markdown is escaped. */
export function renderHtml(file: string, markdown: string): string {
  const marked = new Marked({ renderer: createRenderer(file) }, tabsExtension())
  return marked.parse(markdown, { async: false })
}

/** A table scrolls on narrow screens. From this length on, the text of a cell gets more width. */
const longCellCharsMin = 40

function createRenderer(file: string): RendererObject {
  const slug = createSlugger()
  return {
    heading({ depth, text, tokens }) {
      const id = slug(text)
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const target = hrefOf(file, href)
      const text = this.parser.parseInline(tokens)
      return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`
    },
    image({ href, text }) {
      return `<img src="${escapeHtml(hrefOf(file, href) ?? href)}" alt="${escapeHtml(text)}">`
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
            const width = text.length > longCellCharsMin ? ' class="long"' : ''
            return `<${tag}${width}>${this.parser.parseInline(tokens)}</${tag}>`
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

/**
 * Converts the target of a link. Returns undefined for source files, which the site does not contain:
 * only their text remains.
 */
function hrefOf(file: string, href: string): string | undefined {
  if (href.startsWith('#')) return href
  const served = servedSitePathOf(href)
  if (served !== undefined) return relativeLink(file, served)
  if (isExternalLink(href)) return href
  const [linkPath = '', anchor] = href.split('#')
  const target = path.posix.join(path.posix.dirname(file), linkPath)
  if (target.startsWith('docs/pictures/')) return relativeLink(file, sitePathOf(target))
  if (!pageFiles.includes(target)) return undefined
  const page = relativeLink(file, pagePathOf(target))
  return anchor === undefined ? page : `${page}#${anchor}`
}
