import type { AnalysisRequest, ImageAnalysis } from './image-analysis.ts'
import type { EncodedImage } from './image/input/encoded-image.ts'
import type { judgeFaces } from './liveness/challenge/compare-frames.ts'

/** Analyzes the images of calls. */
export type VisionClient = {
  /**
   * Analyzes one image. A call with several images must reserve their places first.
   *
   * @throws ActionError of the pipeline, or INVALID_REQUEST for an image that crashed workers before.
   * @throws HttpError 503 if there is no room, the wait is too long, the worker was lost, or images of
   *   this key and kind crashed workers before.
   * @throws the reason of `options.signal` if it is aborted before a worker is assigned.
   */
  readonly analyzeImage: (
    image: EncodedImage,
    request: AnalysisRequest,
    options: AnalyzeImageOptions,
  ) => Promise<ImageAnalysis>
  /**
   * Checks, without a reservation, whether `reserve` would accept these images now.
   *
   * @throws HttpError 503 if there is no room for all images.
   */
  readonly assertRoom: (
    images: readonly Pick<EncodedImage, 'bytes'>[],
    options: Pick<ReserveOptions, 'accountId' | 'projectId'>,
  ) => void
  /**
   * Reserves places for all images of a call, so that no image is rejected later because others
   * arrived first. All images are analyzed by the returned client, which the call must dispose.
   *
   * @throws HttpError 503 if there is no room for all images. Nothing is reserved then.
   * @throws the reason of `options.signal` if it is aborted.
   */
  readonly reserve: (
    images: readonly Pick<EncodedImage, 'bytes'>[],
    options: ReserveOptions,
  ) => VisionReservation
  /** Judges the faces of the frames of a response to a challenge. */
  readonly judgeChallenge: typeof judgeFaces
}

/**
 * The places of one call. `analyzeImage` uses the place of its image and ignores the owner and the
 * signal of its options. `reserve` returns places of this reservation, for a part of the call, and
 * `assertRoom` always succeeds.
 *
 * Disposing it rejects the images that wait, and ignores the results of those that are running.
 */
export type VisionReservation = VisionClient & Disposable

export type ReserveOptions = {
  /** Workers are assigned to accounts in rotation, one image each, and to the projects of each. */
  readonly accountId: string
  readonly projectId: string
  /** The API key of the call: images like those that crash workers are rejected for this key. */
  readonly keyId?: string | undefined
  /** Aborted when the client disconnects. Waiting images are dropped, running ones finish. */
  readonly signal?: AbortSignal
}

export type AnalyzeImageOptions = ReserveOptions & {
  /** JSON path of the image in the API request, for messages: `params.images[0]`. */
  readonly path: string
}
