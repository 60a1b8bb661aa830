import { Marked, type Token, type Tokens } from 'marked'

/** A code block of a page. */
export type CodeBlock = {
  /** The first word after the fence: sh, json, ts, text; empty when there is none. */
  readonly language: string
  /** What else stands there: `says="…"`, `answers="…"`, `not-run="…"`. */
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

/** What a page is made of, as far as it is checked. */
export type PageOutline = {
  readonly title: string
  readonly blocks: readonly CodeBlock[]
  /** The targets of links and pictures as they are written. */
  readonly links: readonly string[]
  /** What may stand behind the `#` of a link to this page. */
  readonly anchors: readonly string[]
}

export function parseOutline(markdown: string): PageOutline {
  const marked = new Marked()
  const blocks: CodeBlock[] = []
  const links: string[] = []
  const headings: Tokens.Heading[] = []
  // No token is waited for, so there is nothing in the list that it returns.
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

/** `sh says="badge-1042"` → its language and its marks. */
export function parseCodeBlock({ lang = '', text }: Tokens.Code): CodeBlock {
  const [language = ''] = lang.split(' ')
  const marks = [...lang.matchAll(/([\w-]+)="([^"]*)"/gu)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return { language, attributes: Object.fromEntries(marks), text }
}

/** Names the headings of one page as GitHub does, so that a link holds here and there. */
export function createSlugger(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1').toLowerCase()
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/gu, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  }
}

// The library's union of tokens ends in one of any shape, which `type` alone does not narrow.
const isCode = (token: Token): token is Tokens.Code => token.type === 'code'
const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
const isLink = (token: Token): token is Tokens.Link | Tokens.Image =>
  token.type === 'link' || token.type === 'image'
