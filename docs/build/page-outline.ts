import { Marked, type Token, type Tokens } from 'marked'

/** A code block of a page. */
export type CodeBlock = {
  /** The first word after the fence: sh, json, ts or text; empty without one. */
  readonly language: string
  /** The attributes after the language: `prints="…"`, `error="…"`, `skip="…"`. */
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

/** The parts of a page that the tests check. */
export type PageOutline = {
  readonly title: string
  readonly blocks: readonly CodeBlock[]
  /** The targets of links and pictures, as written. */
  readonly links: readonly string[]
  /** The headings as link targets after `#`. */
  readonly anchors: readonly string[]
}

export function parseOutline(markdown: string): PageOutline {
  const marked = new Marked()
  const blocks: CodeBlock[] = []
  const links: string[] = []
  const headings: Tokens.Heading[] = []
  // The callback is synchronous, so the returned list of promises is empty.
  void marked.walkTokens(marked.lexer(markdown), (token) => {
    if (isCode(token)) blocks.push(parseCodeBlock(token))
    if (isLink(token)) links.push(token.href)
    if (isHeading(token)) headings.push(token)
  })
  const slug = createSlugger()
  return {
    title: headings[0]?.text.replaceAll('`', '') ?? '',
    blocks,
    links,
    anchors: headings.map(({ text }) => slug(text)),
  }
}

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
const isCode = (token: Token): token is Tokens.Code => token.type === 'code'
const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const isLink = (token: Token): token is Tokens.Link | Tokens.Image =>
  token.type === 'link' || token.type === 'image'
