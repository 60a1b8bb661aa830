import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import type { Services } from '../action.ts'

type ReservingCall = {
  readonly caller: { readonly projectId: string }
  readonly services: Services
  readonly signal: AbortSignal
}

/**
 * Reserves places for all images that a call analyzes, before its first work, so that the call is
 * accepted or rejected as a whole.
 *
 * @returns the call with a vision client that uses these places. Dispose it when the images are
 *   analyzed: if one image has failed, the waiting ones are cancelled.
 * @throws HttpError 503 if there is no room for all images.
 */
export function reserveImages<Call extends ReservingCall>(
  call: Call,
  images: readonly Pick<EncodedImage, 'bytes'>[],
): Call & Disposable {
  const { caller, services, signal } = call
  const vision = services.vision.reserve(images, { projectId: caller.projectId, signal })
  return {
    ...call,
    services: { ...services, vision },
    [Symbol.dispose]: () => vision[Symbol.dispose](),
  }
}
