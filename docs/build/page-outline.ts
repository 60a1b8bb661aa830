import { Marked, type Token, type Tokens } from 'marked'

/** A code block of a page. */
export type CodeBlock = {
  /** The first word after the fence: sh, json, ts or text; empty without one. */
  readonly language: string
  /** The attributes after the language: `prints="…"`, `error="…"`, `skip="…"`, `tab="…"`. */
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

export type PageHeading = {
  /** 1 is the title of the page. */
  readonly depth: number
  /** Plain text. */
  readonly text: string
  /** The link target after `#`. */
  readonly anchor: string
}

/** A heading and the plain text up to the next one. */
export type PageSection = PageHeading & { readonly content: string }

/** The parts of a page that the site and the tests use. */
export type PageOutline = {
  readonly title: string
  /** The first sentence of the page. */
  readonly description: string
  readonly blocks: readonly CodeBlock[]
  /** The targets of links and pictures, as written. */
  readonly links: readonly string[]
  /** The headings as link targets after `#`. */
  readonly anchors: readonly string[]
  readonly sections: readonly PageSection[]
}

export function parseOutline(markdown: string): PageOutline {
  const marked = new Marked()
  const tokens = marked.lexer(markdown)
  const blocks: CodeBlock[] = []
  const links: string[] = []
  // The callback is synchronous, so the returned list of promises is empty.
  void marked.walkTokens(tokens, (token) => {
    if (isCode(token)) blocks.push(parseCodeBlock(token))
    if (isLink(token)) links.push(token.href)
  })
  const sections = splitSections(tokens)
  return {
    title: sections[0]?.text ?? '',
    description: descriptionOf(tokens),
    blocks,
    links,
    anchors: sections.map(({ anchor }) => anchor),
    sections,
  }
}

function splitSections(tokens: readonly Token[]): PageSection[] {
  const slug = createSlugger()
  const sections: { heading: PageHeading; parts: string[] }[] = []
  for (const token of tokens)
    if (isHeading(token)) {
      const { depth, text } = token
      const heading = { depth, text: plainText([token]).trim(), anchor: slug(text) }
      sections.push({ heading, parts: [] })
    } else sections.at(-1)?.parts.push(plainText([token]))
  return sections.map(({ heading, parts }) => ({
    ...heading,
    content: parts.join(' ').replaceAll(/\s+/gu, ' ').trim(),
  }))
}

/** The first sentence of the first paragraph. */
function descriptionOf(tokens: readonly Token[]): string {
  const paragraph = tokens.filter(({ type }) => type === 'paragraph').slice(0, 1)
  const text = plainText(paragraph).replaceAll(/\s+/gu, ' ').trim()
  return (/^.+?[.:](?= |$)/u.exec(text)?.[0] ?? text).replace(/:$/u, '.')
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('')
}

/** Parts of a list, a table or a quotation are separated by spaces. */
function textOf(token: Token): string {
  if (token.type === 'list') return (token as Tokens.List).items.map(textOf).join(' ')
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows]
      .flat()
      .map((cell) => plainText(cell.tokens))
      .join(' ')
  }
  if (token.type === 'image') return ''
  if (token.type === 'br' || token.type === 'space') return ' '
  if ('tokens' in token && token.tokens)
    return plainText(token.tokens) + (isInline(token) ? '' : ' ')
  return 'text' in token ? String(token.text) : ''
}

const isInline = ({ type }: Token): boolean =>
  ['strong', 'em', 'del', 'link', 'text', 'codespan'].includes(type)

/** Splits the fence `sh prints="badge-1042"` into language and attributes. */
export function parseCodeBlock({ lang = '', text }: Tokens.Code): CodeBlock {
  const [language = ''] = lang.split(' ')
  const attributes = [...lang.matchAll(/([\w-]+)="([^"]*)"/gu)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return { language, attributes: Object.fromEntries(attributes), text }
}

/** Returns a function that creates heading anchors like GitHub, so that links work on both. */
export function createSlugger(): (heading: string) => string {
  const counts = new Map<string, number>()
  return (heading) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1').toLowerCase()
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/gu, '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

// `type` does not narrow the token union of the library, because it contains a generic token.
export const isCode = (token: Token): token is Tokens.Code => token.type === 'code'
const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const isLink = (token: Token): token is Tokens.Link | Tokens.Image =>
  token.type === 'link' || token.type === 'image'
