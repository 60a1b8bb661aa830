import MiniSearch, { type SearchResult } from 'minisearch'
import { searchOptions, type SearchSection } from '../search-options.ts'

const resultsMax = 12

type SearchElements = {
  readonly field: HTMLInputElement
  readonly results: HTMLElement
  readonly status: HTMLElement
  readonly list: HTMLOListElement
}

/**
 * Shows the search. The index is loaded when the field has the focus.
 *
 * @param root the address of the site.
 */
export function startSearch(root: URL): void {
  const search = document.querySelector<HTMLElement>('.search')
  const elements = search && findElements(search)
  if (!search || !elements) return
  search.hidden = false
  let loading: Promise<MiniSearch<SearchSection>> | undefined
  const load = (): Promise<MiniSearch<SearchSection>> => (loading ??= loadIndex(root))
  const update = async (): Promise<void> => {
    const query = elements.field.value
    try {
      const index = await load()
      // A later input has its own update.
      if (query === elements.field.value) showResults(elements, query, { index, root })
    } catch {
      loading = undefined
      elements.results.hidden = false
      elements.status.textContent = 'The index of the search could not be loaded. Try again.'
    }
  }
  elements.field.addEventListener('focus', () => void load().catch(() => (loading = undefined)))
  elements.field.addEventListener('input', () => void update())
  document.addEventListener('keydown', (event) => onKey(event, search, elements))
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !search.contains(target)) elements.results.hidden = true
  })
}

function findElements(search: HTMLElement): SearchElements | undefined {
  const field = search.querySelector<HTMLInputElement>('input')
  const results = search.querySelector<HTMLElement>('#results')
  const status = search.querySelector<HTMLElement>('[role=status]')
  const list = search.querySelector('ol')
  return field && results && status && list ? { field, results, status, list } : undefined
}

async function loadIndex(root: URL): Promise<MiniSearch<SearchSection>> {
  const response = await fetch(new URL('search-index.json', root))
  if (!response.ok) throw new Error(`status ${response.status}`)
  return MiniSearch.loadJSON<SearchSection>(await response.text(), searchOptions)
}

type Loaded = { readonly index: MiniSearch<SearchSection>; readonly root: URL }

function showResults(elements: SearchElements, query: string, { index, root }: Loaded): void {
  const { results, status, list } = elements
  results.hidden = query.trim() === ''
  const found = results.hidden ? [] : index.search(query)
  list.replaceChildren(...found.slice(0, resultsMax).map((result) => resultItem(result, root)))
  status.textContent =
    found.length === 0 ? 'No section contains these words.' : `${found.length} sections`
}

function resultItem(result: SearchResult, root: URL): HTMLLIElement {
  const { id, page, heading, excerpt } = result as SearchResult & SearchSection
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = new URL(id, root).href
  const parts = { strong: heading, small: heading === page ? '' : page, span: excerpt }
  for (const [tag, text] of Object.entries(parts)) {
    const part = document.createElement(tag)
    part.textContent = text
    link.append(part)
  }
  item.append(link)
  return item
}

/** `/` focuses the field, the arrows move within the results, Enter opens the first, Escape closes. */
function onKey(event: KeyboardEvent, search: HTMLElement, elements: SearchElements): void {
  const { field, results, list } = elements
  const { activeElement } = document
  if (event.key === '/' && !(activeElement instanceof HTMLInputElement)) {
    event.preventDefault()
    field.focus()
    return
  }
  if (!search.contains(activeElement)) return
  const stops = [field, ...list.querySelectorAll('a')]
  const position = stops.findIndex((stop) => stop === activeElement)
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  const step = steps[event.key]
  if (step !== undefined && !results.hidden) {
    event.preventDefault()
    stops.at((position + step) % stops.length)?.focus()
  }
  if (event.key === 'Enter' && position === 0) stops[1]?.click()
  if (event.key === 'Escape') {
    results.hidden = true
    field.focus()
  }
}
