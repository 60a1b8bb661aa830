import assert from 'node:assert/strict'
import { imageParams, type TestGallery } from '../gallery/test-gallery.ts'

/** An error in a response. */
export type WireProblem = {
  readonly code: string
  readonly message: string
  readonly path?: string
  readonly hint?: string
}

/** Returns the errors of a call. @throws AssertionError if it succeeds. */
export async function errorsOf(
  gallery: TestGallery,
  action: string,
  params: object,
): Promise<WireProblem[]> {
  const { body } = await gallery.call(action, params)
  assert.equal(body.ok, false, action)
  return body.errors
}

/** Returns one image of each person. */
export const images = (...names: readonly string[]) =>
  names.flatMap((name) => (imageParams(name) as { readonly images: readonly object[] }).images)
