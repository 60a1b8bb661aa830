import MiniSearch from 'minisearch'
import type { PageOutline } from './page-outline.ts'
import { pagePathOf } from './page-path.ts'
import { searchOptions, type SearchSection } from './search-options.ts'

const excerptCharsMax = 110

/** Returns the index of the search as JSON. */
export function searchIndex(outlines: ReadonlyMap<string, PageOutline>): string {
  const index = new MiniSearch(searchOptions)
  for (const [file, outline] of outlines) index.addAll(sectionsOf(file, outline))
  return JSON.stringify(index)
}

function sectionsOf(file: string, { title, sections }: PageOutline): SearchSection[] {
  return sections.map(({ depth, text, anchor, content }) => ({
    id: depth === 1 ? pagePathOf(file) : `${pagePathOf(file)}#${anchor}`,
    page: title,
    heading: text,
    content,
    excerpt: excerptOf(content),
  }))
}

function excerptOf(content: string): string {
  if (content.length <= excerptCharsMax) return content
  return `${content.slice(0, content.lastIndexOf(' ', excerptCharsMax))} …`
}
