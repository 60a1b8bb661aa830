import type { PlaygroundResponse } from '../api/responses.ts'
import type { SnippetCall } from './snippets.ts'
import { toImageItem, type PlaygroundImage } from './images/playground-image.ts'

/** An image of a run, to draw its faces on. */
export type RunPicture = Pick<PlaygroundImage, 'id' | 'name' | 'bitmap' | 'width' | 'height'>

/** One call of the playground with its response. */
export type PlaygroundRun = {
  readonly id: string
  readonly atMs: number
  readonly call: SnippetCall
  readonly response: PlaygroundResponse
  readonly pictures: readonly RunPicture[]
}

type CallParts = {
  readonly params: Readonly<Record<string, unknown>>
  readonly images: readonly PlaygroundImage[]
  readonly debug: boolean
  readonly validateOnly?: boolean
}

/** Returns the call that the playground sends. */
export function toCall(action: string, { params, images, debug, validateOnly }: CallParts) {
  const withImages = images.length > 0 ? { images: images.map(toImageItem), ...params } : params
  return {
    action,
    params: withImages,
    ...(debug && { debug }),
    ...(validateOnly && { validateOnly }),
  }
}

/** Returns the run of a completed call. It contains no bytes of the images, only their pixels. */
export function toRun(
  action: string,
  { params, images, debug }: CallParts,
  response: PlaygroundResponse,
): PlaygroundRun {
  return {
    id: crypto.randomUUID(),
    atMs: Date.now(),
    call: {
      action,
      params,
      debug,
      images: images.map(({ name, contentType }) => ({ name, contentType })),
    },
    response,
    pictures: images.map(({ id, name, bitmap, width, height }) => ({
      id,
      name,
      bitmap,
      width,
      height,
    })),
  }
}
