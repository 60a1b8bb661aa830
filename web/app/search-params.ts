/** The state of a page that its URL contains: strings by name. */
export type TextSearchParams<Name extends string> = { readonly [N in Name]?: string | undefined }

/** Returns a function that keeps the named search parameters and removes all others. */
export function textSearchParams<Name extends string>(
  ...names: readonly Name[]
): (search: Readonly<Record<string, unknown>>) => TextSearchParams<Name> {
  return (search) => {
    const kept: { [N in Name]?: string } = {}
    for (const name of names) {
      const value = search[name]
      if (typeof value === 'string' && value !== '') kept[name] = value
    }
    return kept
  }
}

/** Parses a query string such as `?action=svc.detect&code=NO_FACE_FOUND`. Every value is a string. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const params = Object.entries(search).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [[name, value]] : [],
  )
  return params.length === 0 ? '' : `?${new URLSearchParams(params).toString()}`
}
