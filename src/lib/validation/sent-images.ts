/** Returns the items of `params.images` of parameters that may be invalid; none if there is no list. */
export function sentImages(params: unknown): readonly unknown[] {
  const { images } = Object(params) as { readonly images?: unknown }
  return Array.isArray(images) ? images : []
}
