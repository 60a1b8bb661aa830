/** The part of a page's state that stands in its address: texts by name. */
export type TextSearchParams<Name extends string> = { readonly [N in Name]?: string | undefined }

/** Keeps the named texts of an address and drops everything else. */
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

/** Addresses stay readable: `?action=svc.detect&code=NO_FACE_FOUND`, every value a text. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(search).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [[name, value]] : [],
  )
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts).toString()}`
}
