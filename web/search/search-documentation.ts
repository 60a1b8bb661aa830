import type { SearchSection } from '../../docs/build/search-options.ts'

export type DocumentationResult = {
  readonly id: string
  readonly label: string
  readonly description: string
  readonly href: string
}

const site = '/docs/'
const resultsMax = 5

/** The shortest text that is searched in the documentation: shorter ones are in most sections. */
export const documentationCharsMin = 3

let loading: Promise<(text: string) => readonly DocumentationResult[]> | undefined

/** Searches the sections of the documentation. Its index is loaded with the first search. */
export async function searchDocumentation(text: string): Promise<readonly DocumentationResult[]> {
  loading ??= loadIndex().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return (await loading)(text)
}

async function loadIndex() {
  const [{ default: MiniSearch }, { searchOptions }] = await Promise.all([
    import('minisearch'),
    import('../../docs/build/search-options.ts'),
  ])
  const response = await fetch(`${site}search-index.json`)
  if (!response.ok) throw new Error(`The index of the documentation: status ${response.status}`)
  const index = MiniSearch.loadJSON<SearchSection>(await response.text(), searchOptions)
  return (text: string): readonly DocumentationResult[] =>
    index
      .search(text)
      .slice(0, resultsMax)
      .map((found) => {
        // The stored fields are those of a section.
        const { id, page, heading, excerpt } = found as typeof found & SearchSection
        const description = heading === page ? excerpt : `${page} · ${excerpt}`
        return { id: `${site}${id}`, label: heading, description, href: `${site}${id}` }
      })
}
