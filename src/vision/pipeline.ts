import type { Look, Picture, PictureLimits, View } from './view.ts'

/** Looks at pictures, one after another; owns the model sessions. */
export type Pipeline = {
  /**
   * Decodes `picture` and reports its faces, largest first.
   *
   * @param path JSON path of the picture in the request, for messages: `params.images[0]`.
   * @throws ActionError INVALID_REQUEST, IMAGE_DECODE_FAILED, UNSUPPORTED_IMAGE_TYPE,
   *   IMAGE_TOO_SMALL or IMAGE_TOO_LARGE when the picture cannot be looked at.
   */
  readonly look: (picture: Picture, look: Look, path: string) => Promise<View>
  /** Frees the sessions; nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

/** `modelsFolder` is the folder that `preparePack` filled. */
export type PipelineOptions = {
  readonly modelsFolder: string
  readonly limits: PictureLimits
}

export declare function createPipeline(options: PipelineOptions): Promise<Pipeline>
