import type { Options } from 'minisearch'

/** A section of a page in the index of the search. */
export type SearchSection = {
  /** The address from the root of the site. */
  readonly id: string
  /** The title of the page. */
  readonly page: string
  readonly heading: string
  readonly content: string
  /** The begin of the content, which the list of results shows. */
  readonly excerpt: string
}

/** The build creates the index, and the browser reads it with the same options. */
export const searchOptions: Options<SearchSection> = {
  fields: ['heading', 'page', 'content'],
  storeFields: ['page', 'heading', 'excerpt'],
  searchOptions: {
    boost: { heading: 4, page: 2 },
    combineWith: 'AND',
    prefix: true,
    // Long words also match with a fifth of their letters wrong; short ones have too many neighbours.
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
  },
}
