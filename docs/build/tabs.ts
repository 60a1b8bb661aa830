import type { MarkedExtension, Token, Tokens } from 'marked'
import { escapeHtml } from './escape-html.ts'
import { isCode, parseCodeBlock } from './page-outline.ts'

/**
 * Renders consecutive code blocks with the attribute `tab="…"` as tabs: one example in several
 * languages. The tabs are radio buttons, so that they work by keyboard and without scripts.
 */
export function tabsExtension(): MarkedExtension {
  let count = 0
  return {
    hooks: { processAllTokens: groupTabs },
    extensions: [
      {
        name: 'tabs',
        renderer({ tokens = [] }) {
          const group = `tabs-${++count}`
          const panels = tokens.map((block) => this.parser.parse([block]))
          return tabsHtml(group, tokens.filter(isCode).map(tabNameOf), panels)
        },
      },
    ],
  }
}

function tabsHtml(
  group: string,
  names: readonly (string | undefined)[],
  panels: readonly string[],
): string {
  const inputs = names.map((tabName = '', index) => {
    const [id, name] = [`${group}-${index}`, escapeHtml(tabName)]
    const checked = index === 0 ? ' checked' : ''
    return `<input type="radio" name="${group}" id="${id}" value="${name}"${checked}><label for="${id}">${name}</label>`
  })
  return `<fieldset class="tabs"><legend>Language</legend>
${inputs.join('\n')}
${panels.map((panel) => `<div class="panel">${panel}</div>`).join('\n')}
</fieldset>
`
}

function groupTabs(tokens: Token[]): Token[] {
  const grouped: Token[] = []
  for (const token of tokens) {
    const last = grouped.at(-1)
    const isTab = isCode(token) && tabNameOf(token) !== undefined
    if (isTab && last?.type === 'tabs' && 'tokens' in last) last.tokens?.push(token)
    else if (isTab) grouped.push({ type: 'tabs', raw: '', tokens: [token] })
    else if (token.type !== 'space') grouped.push(token)
  }
  return grouped
}

function tabNameOf(block: Tokens.Code): string | undefined {
  return parseCodeBlock(block).attributes['tab']
}
