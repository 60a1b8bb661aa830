import type { Action, Services } from '../actions/action.ts'

type RoomCheck = {
  readonly action: Pick<Action, 'analyzesAllImages'>
  /** The parameters as the client sent them. */
  readonly params: unknown
  readonly projectId: string
}

/**
 * Rejects a call for whose images the vision workers have no room, before its admission. A rejected
 * call therefore costs no transaction, and overload does not slow down the accepted calls. It is not
 * logged, consumes no rate-limit token and is counted in the metrics.
 *
 * @throws HttpError 503 with Retry-After.
 */
export function assertRoom(
  vision: Services['vision'],
  { action, params, projectId }: RoomCheck,
): void {
  const images = sentImages(params)
  const { analyzesAllImages: all = false } = action
  const analyzed = (typeof all === 'function' ? all(params) : all) ? images : images.slice(0, 1)
  if (analyzed.length > 0) vision.assertRoom(analyzed, { projectId })
}

/** Returns the images in `params.images`; the action rejects everything else in there. */
function sentImages(params: unknown): readonly { readonly bytes: string }[] {
  const { images } = Object(params) as { readonly images?: unknown }
  return Array.isArray(images) ? images.filter(hasBytes) : []
}

function hasBytes(image: unknown): image is { readonly bytes: string } {
  return typeof (Object(image) as { readonly bytes?: unknown }).bytes === 'string'
}
