import type { PlaygroundResponse } from '../api/responses.ts'
import { toImageItem, type PlaygroundImage } from './images/playground-image.ts'

/** The response of a call and the images that it contained. */
export type RunResult = {
  readonly response: PlaygroundResponse
  readonly images: readonly PlaygroundImage[]
}

type CallParts = {
  readonly params: Readonly<Record<string, unknown>>
  readonly images: readonly PlaygroundImage[]
  readonly debug: boolean
}

/** Returns the call that the playground sends. */
export function toCall(action: string, { params, images, debug }: CallParts) {
  const withImages = images.length > 0 ? { images: images.map(toImageItem), ...params } : params
  return { action, params: withImages, ...(debug && { debug }) }
}
